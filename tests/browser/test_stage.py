"""The stage: what only a browser can show of it."""

import re

import pytest

SMALL = "?data=spirals&data.n_per_class=60&method=LSDR&method.max_iter=5000&method.tol=0&seed=1"


def test_points_move_between_frames_and_stop_where_the_last_one_says(open_app):
    app = open_app(SMALL, motion="no-preference")
    assert app.longest_motion > 0.05
    app.press("Run").until_going()
    painted, received = app.evaluate(
        """async () => {
          const count = () => [supdrStage.clock.painted, board("explorer").received]
          const before = count()
          await new Promise((done) => {
            const wait = () => (board("explorer").received >= before[1] + 8 ? done() : requestAnimationFrame(wait))
            wait()
          })
          return count().map((value, k) => value - before[k])
        }"""
    )
    assert painted > received  # it looks smoother than what is sent
    app.press("Pause").settle()
    assert not app.evaluate("document.documentElement.hasAttribute('data-moving')")
    assert app.evaluate("['input', 'latent', 'method'].every((name) => !square(name).moves)")
    assert app.evaluate("square('latent').position.values === square('latent').position.to")


PIXELS = "square('latent').canvas.width / square('latent').canvas.clientWidth"


@pytest.mark.slow
def test_pictures_have_fewer_pixels_while_they_move_where_all_of_them_take_too_long(open_app):
    app = open_app(SMALL, phone=True, motion="no-preference")
    app.page.wait_for_function(f"{PIXELS} === 2")
    app.press("Run").until_going()
    app.evaluate("square('latent').cost = 1000")  # milliseconds, on a slow machine
    app.page.wait_for_function(f"{PIXELS} === 1")
    assert app.evaluate("square('latent').moves")
    app.press("Pause").settle()
    app.page.wait_for_function(f"{PIXELS} === 2")
    assert not app.evaluate("square('latent').moves")


@pytest.mark.slow
def test_all_pixels_are_tried_again_while_it_moves_as_something_else_may_have_held_a_picture_up(open_app):
    app = open_app(SMALL, phone=True, motion="no-preference")
    app.press("Run").until_going()
    app.evaluate("square('latent').cost = 20")
    app.page.wait_for_function(f"{PIXELS} === 1")
    app.page.wait_for_function(f"{PIXELS} === 2 && square('latent').moves")
    assert app.page.get_by_role("button", name="Pause").count()  # it goes on all the while


WITHOUT_THE_COMPILED_LOOP = """() => {
  const plane = square("latent"), raster = plane.rasters.usual, {blit} = raster
  const painted = () => { plane.touch(); plane.paint(performance.now()); return plane.canvas.toDataURL() }
  const compiled = painted()
  raster.blit = null
  const interpreted = painted()
  raster.blit = blit
  return [blit !== null, compiled === interpreted]
}"""


@pytest.mark.parametrize("query", [pytest.param("", marks=pytest.mark.slow), "&view.colour=part"])
def test_the_compiled_loop_paints_the_pixels_of_the_one_that_every_browser_takes(open_app, query):
    app = open_app(SMALL.replace("5000", "5") + query)
    app.press("Run").settle()
    app.evaluate("board('explorer').select([...Array(30).keys()])")
    assert app.evaluate(WITHOUT_THE_COMPILED_LOOP) == [True, True]


BY_HARDWARE = """() => Object.fromEntries(["input", "latent"].map((name) => {
  const plane = square(name), {rasters, pen, canvas} = plane
  const painted = () => {
    plane.touch()
    plane.paint(performance.now())
    return pen.getImageData(0, 0, canvas.width, canvas.height).data
  }
  rasters.other = null
  const usual = painted()
  rasters.other = rasters.webgl()
  const other = painted(), used = rasters.other !== null
  rasters.other = null
  const apart = usual.reduce((most, value, k) => Math.max(most, Math.abs(value - other[k])), 0)
  return [name, [used, apart <= 2]]
}))"""

A_TRIAL = """([count, speed]) => {
  const {rasters} = square("latent"), asked = [], pen = {getImageData() {}}
  const other = {speed, close: () => asked.push("closed")}
  const made = rasters.webgl
  rasters.webgl = () => (asked.push("made"), other)
  Object.assign(rasters, {other: null, tried: 0})
  const busy = (milliseconds) => { for (const end = performance.now() + milliseconds; performance.now() < end; ); }
  const draw = (raster) => {
    busy(raster === other ? 12 / speed : 12)
    asked.at(-1) === raster || asked.push(raster === other ? "other" : "usual")
    return !(raster === other && rasters.lost)
  }
  rasters.paint(count, pen, draw)
  const chosen = rasters.other === other
  asked.length = 0
  rasters.lost = true
  rasters.paint(count, pen, draw)
  const after = [...asked]
  Object.assign(rasters, {other: null, tried: 0, lost: false, webgl: made})
  return [chosen, after]
}"""


@pytest.mark.parametrize(
    "query",
    ["&test=0.3", pytest.param("&view.size=column:x1&view.colour=error&labels=0.5", marks=pytest.mark.slow)],
)
def test_graphics_hardware_paints_the_same_picture(open_app, query):
    app = open_app(SMALL.replace("5000", "5") + query)
    app.press("Run").settle()
    assert app.evaluate(BY_HARDWARE) == {"input": [True, True], "latent": [True, True]}
    app.evaluate("board('explorer').select([...Array(30).keys()])")
    assert app.evaluate(BY_HARDWARE) == {"input": [True, True], "latent": [True, True]}


def test_graphics_hardware_is_taken_where_a_trial_with_many_rows_shows_it_quicker(app):
    trials = {(30_000, 4.0): True, (30_000, 1.1): False, (30_000, 0.1): False, (5_000, 4.0): False}
    for (count, speed), chosen in trials.items():
        taken, after = app.evaluate(A_TRIAL, [count, speed])
        assert taken is chosen, (count, speed)
        assert after == (["other", "usual"] if chosen else ["usual"])  # what is lost is drawn as usual


SURFACE_ON_ITS_WAY = """async () => {
  const moves = () => square("input").relief.moves
  await new Promise((done) => { const look = () => (moves() ? done() : requestAnimationFrame(look)); look() })
  const {from, to, values} = square("input").relief.motion
  const inside = values.every((value, k) => (value - from[k]) * (value - to[k]) <= 1e-6 * (1 + to[k] * to[k]))
  const far = (one, two) => Math.max(...one.map((value, k) => Math.abs(value - two[k])))
  return [inside, far(to, from) > 0]
}"""

SURFACES_AGREE = """() => {
  const {relief, tree: {region, boundary}} = square("input")
  const {image} = relief, wide = image.shape[0], places = [...Array(wide * wide).keys()]
  const there = (k) => Math.floor((k + 0.5) * region.image.shape[0] / wide)
  const finer = (k) => region.image[there(Math.floor(k / wide)) * region.image.shape[0] + there(k % wide)]
  const same = places.filter((k) => image[k] === finer(k)).length / places.length
  const drawn = [], pen = {beginPath() {}, moveTo: (x, y) => drawn.push([x, y]), lineTo: (x, y) => drawn.push([x, y])}
  relief.path(pen, {x: (value) => value, y: (value) => value}, 0)
  const known = [...Array(boundary.length / 2).keys()].filter((k) => !Number.isNaN(boundary[2 * k]))
  const cell = (region.extent[1] - region.extent[0]) / relief.shown.levels.shape[1]
  const nearest = ([x, y]) => Math.min(...known.map((k) => Math.hypot(boundary[2 * k] - x, boundary[2 * k + 1] - y)))
  return {same, lines: drawn.length, far: Math.max(...drawn.map(nearest)) / cell}
}"""


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boundaries_move_between_surfaces_and_end_where_the_server_draws_them(open_app, n_classes):
    app = open_app(
        f"?data=spirals&data.n_classes={n_classes}&data.n_per_class=60&method=NSDR&method.max_iter=5000&method.tol=0",
        motion="no-preference",
    )
    app.press("Run").until_going()
    assert app.evaluate(SURFACE_ON_ITS_WAY) == [True, True]
    app.press("Pause").settle()
    assert not app.evaluate("square('input').relief.moves")
    told = app.evaluate(SURFACES_AGREE)
    assert told["same"] > 0.98  # the server's is twice as fine
    assert told["lines"] > 20
    assert told["far"] < 1.0


@pytest.mark.slow
def test_curves_say_what_stands_at_the_pointer(open_app):
    app = open_app(SMALL.replace("5000", "30") + "&speed=fast")
    app.press("Run").settle()
    objective = app.curve("losses", "objective")
    assert len(objective) == 31
    assert f"objective {objective[-1]:.4g}" in app.figure("losses").get_attribute("aria-label")
    box = app.box("losses")
    app.page.mouse.move(box["x"] + 60, box["y"] + 40)
    tips = app.page.locator(".stage-tip:visible")
    said = re.search(r"iteration (\d+).*objective ([\d.]+)", tips.inner_text().replace("\n", " "))
    assert float(said[2]) == float(f"{objective[int(said[1])]:.4g}")
    assert app.evaluate("chart('errors').board.pointed") == int(said[1])  # marked in the other chart, too
    app.page.mouse.move(box["x"] + 60, box["y"] - 20)
    assert tips.count() == 0


@pytest.mark.slow
def test_frames_are_counted_on_request(open_app):
    app = open_app(SMALL, motion="no-preference")
    app.press("Run").until_going()
    canvas = app.page.locator("canvas.stage").first
    counted = app.page.get_by_text(re.compile(r"^\d+ painted, \d+ received"))
    assert counted.count() == 0
    canvas.press("f")
    counted.filter(has_text=re.compile("[1-9]\\d* painted, [1-9]")).wait_for()
    canvas.press("f")
    assert counted.count() == 0


def test_rows_are_reached_by_keys(open_app):
    app = open_app(SMALL.replace("5000", "5"))
    canvas = app.page.locator("canvas.stage").first
    canvas.focus()
    seen, places = [], "[...square('input').places]"
    for key in ["ArrowRight", "ArrowRight", "Shift+ArrowUp", "ArrowLeft"]:
        canvas.press(key)
        seen.append(app.evaluate("square('input').pointer.tooltip.row"))
    tip = app.page.locator(".stage-tip:visible")
    said = app.evaluate("(row) => board('explorer').tree.facts.row[row]", seen[-1])
    assert f"row {said} " in tip.inner_text()
    assert tip.get_attribute("aria-live") == "polite"
    x = app.evaluate(places)[::2]
    y = app.evaluate(places)[1::2]
    assert x[seen[1]] > x[seen[0]]
    assert y[seen[2]] > y[seen[1]]
    assert x[seen[3]] < x[seen[2]]
    canvas.press("Enter")
    app.settle()
    assert app.evaluate("[...board('explorer').selected]") == [seen[3]]
    before = app.evaluate("[...square('input').extent]")
    canvas.press("+")
    after = app.evaluate("[...square('input').extent]")
    assert after[1] - after[0] < before[1] - before[0]
    canvas.press("0")
    assert app.evaluate("[...square('input').extent]") == before
    canvas.press("Escape")
    app.settle()
    assert app.evaluate("board('explorer').selected") is None
    assert tip.count() == 0
    assert "ready" in app.status  # no key has reached the run


TILES = """() => {
  const {thumbnails, places, frame} = square("latent")
  return thumbnails.shown.map((row) => [row, frame.x(places[2 * row]), frame.y(places[2 * row + 1])])
}"""


@pytest.mark.slow
def test_rows_that_are_pictures_are_drawn_as_such_where_there_is_room(open_app):
    app = open_app("?data=digits&method=LSDR&method.max_iter=3")
    app.press("Run").settle()
    assert app.evaluate(TILES) == []
    app.press("images").settle()
    tiles = app.evaluate(TILES)
    assert len(tiles) > 20
    for k, (_, x, y) in enumerate(tiles):
        assert all(max(abs(x - there), abs(y - high)) >= 28 for _, there, high in tiles[k + 1 :])
    rows = {row for row, _, _ in tiles}
    canvas = app.page.locator("canvas.stage").nth(1)
    canvas.focus()
    for _ in range(4):
        canvas.press("+")
    app.settle()
    nearer = app.evaluate(TILES)
    side = app.evaluate("square('latent').canvas.clientWidth")
    assert all(0 <= x <= side and 0 <= y <= side for _, x, y in nearer)
    assert {row for row, _, _ in nearer} - rows  # there is room for others
    app.press("images").settle()
    assert app.evaluate(TILES) == []


@pytest.mark.slow
def test_images_are_offered_where_rows_are_pictures(open_app):
    app = open_app(SMALL)
    assert app.page.get_by_role("button", name="images", exact=True).count() == 0


@pytest.mark.slow
def test_what_is_said_of_a_row_stays_within_its_view(open_app):
    app = open_app("?data=digits&method=LSDR&method.n_components=2&test=0.7&view.colour=trust", size=(1280, 720))
    frame, tip = app.box("latent"), app.page.locator(".stage-tip:visible")
    places = app.places("latent")
    across = sorted(range(len(places)), key=lambda row: places[row][0])
    for row in (across[0], across[len(across) // 2], across[-1]):
        app.page.mouse.move(*app.place_of("latent", row), steps=2)
        assert "lost neighbours" in tip.inner_text()
        box = tip.bounding_box()
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
        assert tip.evaluate("(box) => box.scrollWidth <= box.clientWidth")
