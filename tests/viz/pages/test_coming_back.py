"""A page that lost its server shows again what its visitor last saw."""

from tests.viz.visitor import Visitor

QUERY = "?data=spirals&data.n_per_class=40&method=LSDR&method.max_iter=5000&method.tol=0&seed=3"


def test_a_page_that_comes_back_shows_what_was_last_seen():
    with Visitor(QUERY) as visitor:
        for _ in range(6):
            visitor.press("Step").settle()
        seen, query = visitor.number("objective"), visitor.query
        assert visitor.stage().get("iteration") == 6
    with Visitor(f"?{query}") as visitor:
        assert visitor.iteration == 0
        visitor.do(lambda: visitor.bridge.param.update(lost_at=6))
        assert visitor.settle().stands == ("paused", 6)
        assert visitor.number("objective") == seen
        assert visitor.query == query


def test_a_page_that_lost_nothing_waits():
    with Visitor(QUERY) as visitor:
        assert visitor.iteration == 0
