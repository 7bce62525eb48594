"""A notebook that the tests of notebooks run."""

from playwright.sync_api import expect

from tests.browser.app import AT_REST

CODE = """\
import supdr
from supdr_viz import notebook
from supdr_viz.notebook import live_fit

live_fit.INTERVAL = 0.0  # a picture of every step, however fast the machine
data = supdr.datasets.make_spirals(2, 60, random_state=0)
model = notebook.watch(supdr.LSDR(max_iter=40, tol=0.0, random_state=0), data.X, data.y)
"""


ASK = "print(len(model.selected), model.snapshot.iteration)"


def check_scrubber(frame):
    """Moving the scrubber moves the number and both the plots."""
    scrub, numbers = frame.locator("#scrub"), frame.locator("#numbers")

    def drawn():
        frame.locator("html").evaluate(AT_REST)
        plots = (frame.locator(plot) for plot in ("#latent canvas", "#losses canvas"))
        return [plot.first.evaluate("canvas => canvas.toDataURL()") for plot in plots]

    expect(numbers).to_contain_text("iteration", timeout=30_000)
    last, said = drawn(), numbers.inner_text()
    assert not said.startswith("iteration 0 ")
    scrub.press("Home")
    expect(numbers).to_contain_text("iteration 0 ")
    assert all(one != other for one, other in zip(drawn(), last))
    scrub.press("ArrowRight")
    expect(numbers).not_to_contain_text("iteration 0 ")
    scrub.press("End")
    expect(numbers).to_have_text(said)
