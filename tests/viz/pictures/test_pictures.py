"""What methods show of themselves: modes, and the pictures of MAC."""

import numpy as np
import pytest

import supdr
from supdr_viz.experiment.build import build_dataset, build_estimator
from supdr_viz.experiment.settings import Settings
from supdr_viz.experiment.splitting import split
from supdr_viz.pictures.methods import MARGINS, SHEPARD, modes_of
from supdr_viz.pictures.methods.class_atlas import DOUBTFUL, MAX_TIED, most_doubtful
from supdr_viz.pictures.methods.mac import DIRECTIONS, EDGES, SPREAD, _corners
from supdr_viz.pictures.picture import Number
from supdr_viz.pictures.scene import build_scene, steady_extent, without_outliers
from supdr_viz.pictures.types import Curves
from supdr_viz.run.frame_builder import DisplayOptions, FrameBuilder
from supdr_viz.views.figures import colour_of

NO_CURVES = Curves(np.zeros(1, dtype=int), {})


class Run:
    """A short run, with its frames."""

    def __init__(self, options=None, data=None, label_share=1.0, steps=3, method="MAC"):
        settings = Settings(
            data="spirals",
            data_options={"n_per_class": 40, "n_classes": 3, **(data or {})},
            method=method,
            method_options={**({"n_centers": 30} if method == "MAC" else {}), "n_components": 2, "max_iter": steps}
            | (options or {}),
            label_share=label_share,
        )
        dataset = build_dataset(settings)
        parts = split(dataset, settings)
        self.estimator = build_estimator(settings, dataset.task, len(parts.train))
        self.snapshots = list(self.estimator.iterate(parts.X_train, parts.y_train))
        self.scene = build_scene(dataset, parts)
        self.builder = FrameBuilder(self.scene, parts)
        self.fitted = self.estimator.at(self.snapshots[-1])

    def frame(self, mode, number=-1, **options):
        snapshot = self.snapshots[number]
        options = DisplayOptions(method_mode=mode, **options)
        told = {"span": (0, 3), "live": True, "losses": NO_CURVES, "errors": NO_CURVES, "numbers": {}}
        return self.builder.build(self.estimator.at(snapshot), snapshot, options, **told)

    def picture(self, mode, number=-1, **options):
        return self.frame(mode, number, **options).picture


def inside(points, extent):
    points = points[np.isfinite(points).all(axis=1)]
    return (
        (points[:, 0] >= extent[0])
        & (points[:, 0] <= extent[1])
        & (points[:, 1] >= extent[2])
        & (points[:, 1] <= extent[3])
    ).all()


# --- modes ------------------------------------------------------------------------------------------------------------


def names(estimator, task="classification"):
    *names, last = [mode.name for mode in modes_of(estimator, task)]
    assert last == "shepard"  # every map can be judged
    return names


def test_modes_are_what_an_estimator_can_show():
    assert names(supdr.LSDR()) == ["reconstruction", "margins"]
    assert names(supdr.LSDR(task="regression"), "regression") == ["predictions", "reconstruction"]
    assert names(supdr.baselines.ElasticNet(), "regression") == ["predictions"]
    assert names(supdr.MAC()) == ["targets", "means", "margins"]
    assert names(supdr.MAC(solver="lbfgs")) == ["means", "margins"]
    assert names(supdr.MAC(n_layers=2)) == ["spokes", "means"]
    assert names(supdr.ClassAtlas()) == ["charts"]
    assert names(supdr.baselines.KNN()) == []


@pytest.mark.parametrize("method", [*supdr.METHODS.values()])
def test_modes_are_named_for_people(method):
    modes = modes_of(method(), "classification")
    assert len({mode.name for mode in modes}) == len({mode.label for mode in modes}) == len(modes)
    for mode in modes:
        assert mode.label
        assert mode.title


@pytest.mark.parametrize("mode", ["nothing", "none", "reconstruction"])
def test_other_modes_make_no_picture(mode):
    assert Run().picture(mode) is None


# --- ClassAtlas -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_the_atlas_shows_half_of_every_class_and_ties_doubtful_rows(n_components):
    run = Run({"n_components": n_components}, {"n_per_class": 25, "n_classes": 3}, 0.4, 2, "ClassAtlas")
    picture, fitted = run.picture("charts"), run.fitted
    ties, ovals = picture.strokes[0], picture.strokes[1:]
    tied = most_doubtful(fitted.doubt_)
    assert len(tied) == min(MAX_TIED, (fitted.doubt_ >= DOUBTFUL).sum()) > 0
    assert np.isnan(ties.points[:, 0]).sum() == 2 * len(tied)
    assert [each.above for each in picture.strokes] == [False, True, True, True]  # no crowd hides them
    codes = np.where(run.scene.is_labelled, run.scene.target, np.nan)
    names = [run.scene.class_names[int(code)] for code in fitted.classes_]
    for code, oval, tag, name in zip(fitted.classes_, ovals, picture.tags, names, strict=True):
        own = picture.rows[codes == code]
        assert within(own, oval.points).mean() == pytest.approx(0.5, abs=2 / len(own))
        assert inside(oval.points, picture.extent)
        assert tag.text == name
        assert tag.x == pytest.approx(middle(oval), abs=1e-5)
        assert tag.y > oval.points[:, 1].max()
    assert inside(picture.rows, picture.extent)
    assert (picture.image is None) == (n_components == 3)


def middle(oval):
    """Where across the middle of an ellipse is."""
    return (oval.points[:, 0].max() + oval.points[:, 0].min()) / 2


def within(points, outline):
    """Whether points lie within a closed line around their middle."""
    across = np.diff(outline, axis=0)
    apart = points[:, None] - outline[None, :-1]
    turns = across[:, 0] * apart[..., 1] - across[:, 1] * apart[..., 0]
    return (turns > 0).all(axis=1) | (turns < 0).all(axis=1)


def test_every_look_of_the_atlas_has_a_key():
    picture = Run(None, {"n_per_class": 25, "n_classes": 3}, 1.0, 2, "ClassAtlas").picture("charts")
    keys = {(key.kind, key.role, key.dash) for key in picture.keys}
    assert picture.marks is None
    assert keys == {
        ("oval", "text", "solid"),  # halves of classes
        ("line", "secondary", "dotted"),  # candidates
    }


def test_the_atlas_colours_the_plane_as_its_map_judges_places():
    run = Run(None, {"n_per_class": 25}, 1.0, 2, "ClassAtlas")
    picture, (low, high, bottom, top) = run.picture("charts"), run.picture("charts").extent
    size, classes = len(picture.image), [picture.roles.index(f"class {int(code)}") for code in run.fitted.classes_]
    across, up = ((run.fitted.centres_ - [low, bottom]) / [high - low, top - bottom] * size).astype(int).T
    assert picture.smooth
    np.testing.assert_array_equal(picture.image[up, across] // picture.shades, classes)


@pytest.mark.parametrize(("separation", "caption"), [(0.0, "placed without labels"), (0.5, "placed using labels")])
def test_the_caption_says_whether_labels_have_a_part_in_the_atlas(separation, caption):
    frame = Run({"separation": separation}, {"n_per_class": 25}, 1.0, 2, "ClassAtlas").frame("charts")
    assert frame.latent_caption == caption
    assert inside(frame.picture.rows, frame.picture.extent)


# --- MAC --------------------------------------------------------------------------------------------------------------

VARIANTS = {
    "two classes on a line": ({"n_components": 1}, {"n_classes": 2}, 1.0),
    "two classes": ({}, {"n_classes": 2}, 1.0),
    "three classes": ({}, {}, 1.0),
    "three classes on a line": ({"n_components": 1}, {}, 1.0),
    "one against one": ({"scheme": "ovo"}, {}, 1.0),
    "a tetrahedron": ({"n_components": 3}, {"n_classes": 4}, 1.0),
    "no room for a simplex": ({"n_components": 3}, {"n_classes": 6}, 1.0),
    "eight classes in a plane": ({}, {"n_classes": 8}, 1.0),
    "ten dimensions": ({"n_components": 10}, {}, 1.0),
    "few labels": ({}, {}, 0.3),
    "early stopping": ({"early_stopping": True}, {}, 1.0),
    "admm": ({"solver": "admm"}, {}, 1.0),
    "linear": ({"mapping": "linear"}, {}, 1.0),
    "perceptron": ({"mapping": "perceptron"}, {}, 1.0),
    "joint": ({"solver": "lbfgs"}, {}, 1.0),
    "fixed point": ({"solver": "fixed_point"}, {"n_classes": 2}, 1.0),
    "two layers": ({"n_layers": 2}, {}, 1.0),
    "two layers, few labels": ({"n_layers": 2, "head": "mix"}, {}, 0.5),
}


def test_rows_that_early_stopping_holds_back_move_no_corner():
    run = Run({"n_layers": 2, "early_stopping": True}, {"n_classes": 5}, 1.0)
    corners = _corners(run.fitted, run.scene)
    radii = np.linalg.norm(corners - corners.mean(axis=0), axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_mode_of_every_variant_draws(variant):
    run = Run(*VARIANTS[variant])
    n_classes = len(run.scene.class_names)
    for mode in modes_of(run.estimator, "classification"):
        for number in range(len(run.snapshots)):
            frame = run.frame(mode.name, number)
            picture = frame.picture
            assert picture.mode == mode.name
            if mode is MARGINS:
                check_margins(run, picture)
                continue
            assert picture.extent[1] - picture.extent[0] == pytest.approx(picture.extent[3] - picture.extent[2])
            if mode is SHEPARD:
                assert picture.image.max() < len(picture.roles) * picture.shades
                continue
            assert picture.marks.shape == (n_classes, 2)
            roles = [picture.roles[role] for role in picture.mark_role]
            assert roles == [f"class {code}" for code in range(n_classes)]
            assert inside(picture.marks, picture.extent)
            for values in (picture.rows, picture.tips):
                if values is not None:
                    assert values.shape == (len(run.scene.position), 2)
                    assert np.isnan(values[run.scene.is_test]).all()
                    assert inside(values, picture.extent)
            for part in (*picture.strokes, *picture.areas):
                assert part.points.dtype == np.float64
                assert part.role < len(picture.roles)
            for role in picture.roles:
                assert colour_of(role, True).startswith("#")
            assert all(np.isfinite(number.value) for number in picture.numbers)


def check_margins(run, picture):
    n_train, known = run.scene.n_train, run.scene.is_labelled
    np.testing.assert_array_equal(np.isfinite(picture.rows).all(axis=1), known)
    assert inside(picture.rows, picture.extent)
    assert np.nanmin(picture.rows[:, 1]) >= 0
    assert np.nanmax(picture.rows[:, 1]) <= 1
    np.testing.assert_array_equal(picture.row_value.values, picture.rows[:, 0])
    assert len(picture.rows) > n_train


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_row_is_right_where_its_margin_is_positive(n_classes):
    run = Run(data={"n_classes": n_classes}, options={"scheme": "ova"})
    margin = run.picture("margins").rows[: run.scene.n_train, 0]
    codes, right = run.scene.code[: run.scene.n_train], run.fitted.transduction_
    assert (codes[margin > 0] == right[margin > 0]).all()
    if n_classes == 2:
        assert (codes[margin < 0] != right[margin < 0]).all()


def test_a_reconstruction_stands_in_the_plane_of_the_data():
    run = Run(method="LSDR", options={"n_components": 2})
    picture, n_train = run.picture("reconstruction"), run.scene.n_train
    np.testing.assert_allclose(picture.rows[:n_train], run.fitted.reconstruction_, rtol=1e-6)
    assert np.isnan(picture.rows[n_train:]).all()
    np.testing.assert_array_equal(picture.tips, run.scene.position)
    assert picture.extent == run.scene.plane.extent
    assert not picture.has_small_rows


def test_targets_are_where_the_method_has_them():
    run = Run(steps=2)
    picture, n_train = run.picture("targets"), run.scene.n_train
    np.testing.assert_allclose(picture.rows[:n_train], run.fitted.embedding_, rtol=1e-6)
    drawn = np.isfinite(picture.tips[:n_train, 0])
    np.testing.assert_allclose(picture.tips[:n_train][drawn], run.fitted.targets_[drawn], rtol=1e-6)
    length = np.linalg.norm(run.fitted.targets_ - run.fitted.embedding_, axis=1)
    assert drawn.any()
    assert length[drawn].min() > length[~drawn].max()
    np.testing.assert_array_equal(picture.row_role[:n_train], run.fitted.case_)
    stays = (run.fitted.case_ == 1) & run.scene.is_labelled[:n_train]
    # F moves once more after the Z step: a target that stayed lies where the image was before.
    before = run.estimator.at(run.snapshots[-2])
    np.testing.assert_allclose(run.fitted.targets_[stays], before.embedding_[stays], atol=1e-9)


def test_the_key_counts_the_cases():
    run = Run()
    shares = [100 * np.mean(run.fitted.case_ == case) for case in (1, 2, 3)]
    keys = cases(run.picture("targets"))
    assert [key.name.split()[-2] for key in keys] == [f"{share:.0f}" for share in shares]
    assert len({key.role for key in keys}) == 3
    assert not any(key.role.startswith("class") for key in keys)
    assert len(cases(run.picture("targets", 0))) == 1  # no step, no cases


def cases(picture):
    """The keys of what rows are coloured by."""
    return [key for key in picture.keys if key.kind == "point"]


def test_every_line_of_the_targets_has_a_key():
    for options in ({}, {"n_components": 10}):
        picture = Run(options).picture("targets")
        drawn = {stroke.dash for stroke in picture.strokes if stroke.dash != "solid"}
        assert drawn == {key.dash for key in picture.keys if key.kind == "line"}


def test_unlabelled_rows_have_a_case_of_their_own_and_do_not_count():
    run = Run(label_share=0.3)
    picture, hidden = run.picture("targets"), ~run.scene.is_labelled & ~run.scene.is_test
    assert (picture.row_role[hidden] == 0).all()
    assert np.isnan(picture.tips[hidden]).all()
    assert sum(int(key.name.split()[-2]) for key in cases(picture)) == pytest.approx(100, abs=1)


def test_numbers_are_those_of_the_snapshot():
    run = Run()
    snapshot = run.snapshots[-1]
    for mode in ("targets", "means"):
        numbers = {number.name: number for number in run.picture(mode).numbers}
        assert list(numbers) == [EDGES, SPREAD, DIRECTIONS]
        assert numbers[EDGES].value == snapshot.diagnostics["edge_ratio"]
        assert all(number.help for number in numbers.values())
    two = Run(data={"n_classes": 2}).picture("targets")
    assert [number.name for number in two.numbers] == [SPREAD]  # two means are always regular
    crowded = Run(data={"n_classes": 5}).picture("means")
    assert [number.name for number in crowded.numbers] == [EDGES, SPREAD]


def test_numbers_are_written_shortly():
    assert [str(Number("a", value)) for value in (1.0, 0.0616, 12.345, 1234.5)] == ["1.000", "0.062", "12.35", "1234"]
    assert str(Number("gap", 81.43, "%")) == "81.4 %"
    assert [str(Number("a", value)) for value in (-0.32, 2.8e-6)] == ["\N{MINUS SIGN}0.320", "2.8·10⁻⁶"]


@pytest.mark.parametrize("side", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
def test_a_mark_at_the_border_is_not_cut_off(side):
    square = np.array([[-1.0, -1.0], [1.0, 1.0]])
    extent = steady_extent(square, None)
    half = extent[1]
    near, beyond = (np.vstack([square, [np.multiply(side, share * half)]]) for share in (0.94, 0.98))
    assert steady_extent(near, extent) == extent
    wider = steady_extent(beyond, extent)
    assert wider != extent
    assert inside(beyond * 1.05, wider)


def test_few_far_rows_do_not_decide_the_frame():
    points = np.random.default_rng(0).normal(size=(200, 2))
    far = points.copy()
    far[:2] = [[500.0, 0.0], [0.0, -500.0]]
    assert len(without_outliers(far)) == 198
    assert steady_extent(without_outliers(far), None)[1] < 10
    assert len(without_outliers(points)) == 200
    halves = np.vstack([points, points + 500.0])
    assert len(without_outliers(halves)) == 400  # two clusters are no outliers
    assert len(without_outliers(far[:40])) == 40


def test_extent_stays_while_it_can():
    run = Run(steps=8)
    extents = [run.picture("means", number).extent for number in range(9)]
    assert len(set(extents)) < len(extents)
    assert run.picture("targets").extent != extents[-1]


def test_binary_margins_pass_where_the_score_is_one():
    run = Run(data={"n_classes": 2})
    picture = run.picture("targets")
    levels = []
    for stroke in picture.strokes:
        ends = stroke.points[np.isfinite(stroke.points).all(axis=1)]
        score = run.fitted.latent_decision_function(ends.astype(float))
        if np.ptp(score) < 1e-3:
            levels.append(round(float(score.mean()), 3))
    assert sorted(levels) == [-1.0, 0.0, 1.0]
