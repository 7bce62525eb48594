"""Visitors do not disturb each other; a run that fails or diverges says so; closed pages leave nothing behind."""

import json
import urllib.request

SGD = "?data=spirals&data.n_per_class=60&method=LSDR&method.solver=sgd&method.max_iter=500&speed=fast"


def counts(server):
    with urllib.request.urlopen(f"{server.url}/counts", timeout=10) as answer:
        return json.load(answer)


def test_visitors_are_on_their_own(app, open_app):
    other = open_app("?data=iris&method=LSDR")
    other.until_settled()
    app.run_to(5)
    assert (other.iteration, other.chip) == (0, "ready")
    other.choose("Method", "LDA")
    other.until(lambda: "method=LDA" in other.page.url)
    assert "method=LSDR" in app.page.url
    app.page.bring_to_front()
    reached = app.iteration
    app.until(lambda: (app.iteration or 0) > reached)


def test_closed_pages_leave_no_work_behind(open_app, server):
    survivor = open_app("?data=iris&method=LDA")
    pages = [open_app("?data=iris&method=LSDR&method.max_iter=5000&method.tol=0") for _ in range(2)]
    for page in pages:
        page.run_to(2)
    before = counts(server)
    assert min(before.values()) >= 2
    for page in pages:
        page.page.close()
    for _ in range(30):
        survivor.page.wait_for_timeout(1500)
        now = counts(server)
        if all(now[kind] <= before[kind] - 2 for kind in before):
            break
    else:
        raise AssertionError(f"something is still there: {before} before, now {now}")
    if survivor.iteration == 0:
        survivor.press("Step")
    survivor.until(lambda: survivor.iteration == 1)


def test_a_run_that_diverges_says_so_and_can_be_mended(open_app):
    app = open_app(SGD + "&method.lr_reconstruction=1&method.beta=0.9")
    app.press("Run")
    app.until(lambda: app.chip == "diverged", 30)
    app.until_seen("Try a smaller learning rate")
    app.until(lambda: "diverged" in app.status)
    assert app.iteration is not None  # the numbers are those of what is shown
    assert "nan" not in app.numbers.lower()
    assert all(value == value for value in app.column("latent points", "x"))
    app.choose("Solver", "block descent")
    app.until(lambda: app.chip in ("paused", "ready"))
    app.press("Reset")
    app.until(lambda: app.chip == "ready" and app.iteration == 0)
    app.run_to(2)


def test_a_run_that_fails_says_so_and_the_page_survives(app, tmp_path):
    rows = [f"{k / 40},{(k * 7 % 40) / 40},{'ab'[k % 2]}" for k in range(40)]
    rows[3] = ",0.5,b"
    (tmp_path / "gap.csv").write_text("\n".join(["x,y,class", *rows]))
    app.choose("Data set", "A file …")
    chooser = app.page.locator("input[type=file]").first
    chooser.wait_for(state="attached")
    chooser.set_input_files(tmp_path / "gap.csv")
    app.until_seen("gap.csv: 40 rows")
    app.press("Use this file")
    app.until(lambda: "data=file" in app.page.url and app.chip == "ready")
    app.choose("Method", "k nearest neighbours")  # which needs every cell
    app.until(lambda: app.chip == "failed")
    app.until_seen("The run failed")
    app.until(lambda: "failed" in app.status and ("missing" in app.status.lower() or "nan" in app.status.lower()))
    app.choose("Method", "LSDR")
    app.until(lambda: app.chip == "ready" and not app.sees("The run failed"))
    app.run_to(2)
