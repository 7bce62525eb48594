"""Where the UI kit has no public way: the only module that reaches into Bokeh, Panel or a script of theirs.

Each reach names what it makes up for and where that is known upstream.  The tests of this module fail as soon as one
of them can go: when the kit does by itself what is done here.
"""

from __future__ import annotations

from typing import Any

import panel as pn
import param
from bokeh.document import Document
from panel.io.notifications import NotificationAreaBase
from panel.util import edit_readonly


def browser_is_there(document: Document) -> None:
    """Have changes of the document sent from now on.

    By itself Panel drops them until the page reports that everything is painted.  On a slow machine that is seconds
    after the page has told its width, or a visitor has begun to press things, and the browser would never hear what
    came of it: nor of the models that later changes speak of.  https://github.com/holoviz/panel/issues/8692 and
    https://github.com/holoviz/panel/pull/8698, which keeps what is not part of the document.

    Parameters
    ----------
    document : Document
        Of a page whose browser has answered.
    """
    pn.state._connected[document] = True


def forget_notifications(document: Document) -> None:
    """Let go of the area of notices of a page that is gone: Panel keeps it, and with it the whole document.

    What was mended for other views in https://github.com/holoviz/panel/pull/8607.

    Parameters
    ----------
    document : Document
        Of the page.
    """
    for name, (view, _model, its_document, _comm) in list(pn.state._views.items()):
        if its_document is document and isinstance(view, NotificationAreaBase):
            del pn.state._views[name]


class _Idle(param.Parameterized):
    """What a page is busy with: nothing, its status line says it better."""

    busy = param.Boolean(default=False)


def never_busy(page: Any) -> None:
    """Untie a page from the server's own "busy", which holds all pages that were ever opened.

    The tie came with https://github.com/panel-extensions/panel-material-ui/pull/235; there is no option to leave it
    out.

    Parameters
    ----------
    page : Page
    """
    with edit_readonly(page):
        page.busy = _Idle().param.busy


CALM_FILE_CHOOSER = """
window.__framePainter = {readers: [], writers: []}
setInterval(() => {
  const {readers, writers} = window.__framePainter
  readers.forEach((read) => read())
  writers.forEach((write) => write(performance.now()))
}, 33)
"""
"""JavaScript that paints the file choosers; for the page's head, before their library.

The library has all its copies in a page share one painter, and starts one of its own if there is none yet: that one
asks for an animation frame sixty times a second, also where no chooser is shown, and each makes the browser lay out the
page.  A timer does not.  https://github.com/pqina/filepond/issues/243
"""
