"""Tables as people have them, brought by somebody who reads no help: from the file to the end of a run."""

import pytest

from tests.browser.own_tables import FILES, SPELLING, TARGETS


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
@pytest.mark.parametrize("name", FILES)
def test_an_untidy_file_is_learnt_from_without_a_choice(open_app, tmp_path, name, phone):
    file = tmp_path / name
    file.write_bytes(FILES[name]())
    app = open_app("?data=spirals&data.n_per_class=60&method=LSDR", phone=phone)
    if phone:
        app.page.locator("header button").first.click()
    app.choose("Data set", "A file …").settle()
    app.choose_file(file)
    app.until_seen("Use this file")
    app.settle()  # choices are shown one after the other
    assert app.page.locator("p.error").count() == 0
    assert " ".join(TARGETS[name].split()) in app.page.get_by_role("combobox", name="Target").first.inner_text()
    if name in SPELLING:
        asked = app.page.get_by_role("row").filter(has=app.page.get_by_role("rowheader", name=SPELLING[name]))
        asked.locator("+ tr").get_by_role("checkbox", name="Read as one spelling").check()
        app.until_seen("Read as one spelling, 66 cells")
        app.settle()
    app.press("Use this file").settle()
    assert app.sees(f"In use: {name}")
    if phone:
        app.close_dialog()  # the drawer
    assert app.stands == ("ready", 0)
    app.press("Run").settle()
    assert app.chip in ("finished", "paused")
    assert app.iteration > 0
    assert app.width <= (390 if phone else 1440)
    if app.number("test error") is not None:
        assert app.number("test error") < 45
