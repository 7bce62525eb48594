"""What a browser is sent."""

import panel as pn
import panel.io.document
import panel.io.resources
from bokeh.document.events import ModelChangedEvent


def sent_by(document, change):
    """What the browser gets of `change`."""
    sent = []
    document.on_change(sent.append)
    with pn.io.hold(document):
        change()
    document.unhold()  # what is not dropped by then waits for this
    return [event for event in sent if isinstance(event, ModelChangedEvent)]
