"""What the server writes of itself: enough to find a failure, nothing about visitors."""

import io
import json
import logging

import pytest
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine
from tornado.web import Application, RequestHandler

from supdr_viz.serving.log import SAME_A_MINUTE, LineFormatter, Sparing, answers, log_json, log_sparingly

SECRET = "Ada Lovelace"


@pytest.fixture
def written():
    """The lines that are written from now on; afterwards all is as before."""
    loggers = [logging.root, *map(logging.getLogger, list(logging.root.manager.loggerDict))]
    kept = [(each, list(each.handlers), each.level, each.propagate) for each in loggers]
    stream, spared = io.StringIO(), list(logging.lastResort.filters)
    log_json(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.lastResort.filters[:] = spared
    for logger, handlers, level, propagate in kept:
        logger.handlers[:] = handlers
        logger.setLevel(level)
        logger.propagate = propagate


def test_a_failure_names_its_place_and_kind_and_not_what_was_typed(written):
    try:
        raise ValueError(f"column {SECRET!r} is empty")
    except ValueError as error:
        logging.getLogger("supdr_viz.ui.background").exception("Loading %s failed", SECRET)
        logging.getLogger("bokeh.application").error(f"failed: {error}", exc_info=True)
    own, other = written()
    assert own["message"] == "Loading %s failed"
    assert "message" not in other
    assert other["where"].startswith("test_log:")
    for line in (own, other):
        assert (line["level"], line["error"]) == ("error", "ValueError")
        assert line["at"][-1].endswith("test_a_failure_names_its_place_and_kind_and_not_what_was_typed")
        assert SECRET not in json.dumps(line)
        assert line["time"].endswith("+00:00")


@pytest.mark.parametrize(
    ("path", "named"), [("/explorer?data=x&turn=key", "explorer"), ("/follow?ticket=key", "follow"), ("/key", "other")]
)
def test_an_answer_is_noted_without_who_and_what(written, path, named):
    line = RequestStartLine("GET", path, "HTTP/1.1")
    request = HTTPServerRequest(start_line=line, headers=HTTPHeaders({"Host": "key"}), connection=Connection())
    answers(["explorer", "follow"])(RequestHandler(Application(), request))
    [noted] = written()
    assert (noted["method"], noted["path"], noted["status"]) == ("GET", named, 200)
    assert noted["ms"] >= 0
    assert "key" not in json.dumps(noted)
    assert "10.1.2.3" not in json.dumps(noted)


class Connection:
    """Of a visitor."""

    class context:
        remote_ip, protocol = "10.1.2.3", "http"

    def set_close_callback(self, callback):
        """Take note of nothing."""


def test_what_others_log_by_themselves_is_taken_over(written):
    other = logging.getLogger("panel")
    other.warning("Session %s", SECRET)
    other.info("Session %s", SECRET)  # nobody needs to know
    assert [line["from"] for line in written()] == ["panel"]
    assert (
        LineFormatter().format(logging.makeLogRecord({"name": "tornado.general", "msg": "403 %s"})).count("403 %s") == 1
    )


def test_who_knocks_often_does_not_fill_the_disk():
    now, logger = [0.0], logging.getLogger("supdr_viz.test")
    sparing = Sparing(lambda: now[0])

    def records(line, number=SAME_A_MINUTE + 7, level=logging.ERROR):
        return [logger.makeRecord(logger.name, level, "door.py", line, "refused", (), None) for _ in range(number)]

    assert sum(map(sparing.filter, records(1))) == SAME_A_MINUTE
    assert sum(map(sparing.filter, records(2, 3))) == 3  # another place is heard
    now[0] = 61.0
    first, *_, last = later = records(1, 5)
    assert all(map(sparing.filter, later))
    assert first.facts == {"left out before": 7}
    assert not hasattr(last, "facts")
    answers = records(3, 100, logging.INFO)
    for each in answers:
        each.name = "supdr_viz.answers"
    assert all(map(sparing.filter, answers))


def test_plain_text_does_not_repeat_itself_without_end(written):
    now, stream = [0.0], io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.root.handlers[:] = [handler]
    log_sparingly(lambda: now[0])
    for minute in (0.0, 61.0):
        now[0] = minute
        for _ in range(SAME_A_MINUTE + 7):
            logging.getLogger("tornado.application").error("Uncaught exception %s", "GET /explorer/ws")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 * SAME_A_MINUTE
    assert lines[SAME_A_MINUTE] == "Uncaught exception GET /explorer/ws [7 more like it were not written]"
    assert "more like it" not in "".join(lines[:SAME_A_MINUTE] + lines[SAME_A_MINUTE + 1 :])
