import json,re,pytest
import panel as pn
from tests.viz.pages.test_light_page import *
def test_size(monkeypatch):
    monkeypatch.setattr(OwnFile, "offered", True)
    monkeypatch.setattr(pn.config, "raw_css", [])
    describe_as_served(monkeypatch)
    with Visitor(page="sensitivity") as visitor:
        document = visitor.session.document
        text = json.dumps(document.to_json(deferred=False), separators=(",", ":"))
        print("SIZE", len(list(document.models)), len(re.sub(r'"p\d+"', '"p1000"', text)))
