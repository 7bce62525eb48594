"""What a browser is sent."""

import panel as pn
import panel.io.document
import panel.io.resources
from bokeh.document.events import ModelChangedEvent
from packaging.version import Version

NEWER = Version(pn.__version__) >= Version("1.10")
"""Whether this is Panel 1.10 with Bokeh 3.10, or later: part of what is made up for they do by themselves."""


def sent_by(document, change):
    """What the browser gets of `change`."""
    sent = []
    document.on_change(sent.append)
    with pn.io.hold(document):
        change()
    document.unhold()  # what is not dropped by then waits for this
    return [event for event in sent if isinstance(event, ModelChangedEvent)]
