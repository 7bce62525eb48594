"""Prepared settings of MAC: the figures of its paper, the certificate closing in, and ten digits on a plane."""

from __future__ import annotations

from typing import Any

from supdr_viz.experiment.settings import Settings
from supdr_viz.presets.preset import Preset

GROUP = "Figures of the MAC paper"

# In these the arms come apart: they are shown slowly.
_OPENING_STEPS = 12

# So stiff that a pass moves the rows by a twentieth of their spread; joint L-BFGS is there with its first step.
_OPENING_MU = 20.0


def mac_presets() -> list[Preset]:
    """Return the presets of MAC, in the order of the menu."""
    figures = [*_centres(), *_simplices(), _one_dimension()]
    return [_closing_in(), _cases(), *figures, _optimum(), *_two_step(), _perceptron()]


def three_spirals() -> Preset:
    """Return the preset with which the explorer opens."""
    settings = _spirals(
        3,
        200,
        1.0,
        0.12,
        n_centers=60,
        centers="kmeans",
        n_components=2,
        init="pca",
        solver="admm",
        mu=_OPENING_MU,
        reg_w=0.1,
        max_iter=100,
    )
    return Preset(
        "three-spirals",
        "Three tangled spirals, MAC",
        "To start with",
        settings,
        "The latent space begins as the data are. Press Run: three tangled arms come apart, and the boundary folds "
        "itself around them. Then choose the solver joint L-BFGS and run on: it goes nearly down to the lower bound.",
        mode="means",
        slow_start=_OPENING_STEPS,
    )


def ten_digits() -> Preset:
    """Return the preset of the two-layer map."""
    return Preset(
        "digits-on-a-plane",
        "Ten digits on a plane, MAC",
        "To start with",
        Settings(
            data="digits",
            method="MAC",
            method_options={"n_layers": 2, "n_components": 2, "head": "ridge"},
            test_share=0.5,
        ),
        "A class is a spoke: the radius is how typical a digit is, doubtful ones lie near the centre. The order of the "
        "classes on the circle is arbitrary; groups inside a class do not show.",
    )


def _spirals(
    n_classes: int, n_per_class: int, turns: float, sigma: float, test: float = 0.2, **options: Any
) -> Settings:
    """Spirals with Gaussians of width sigma around random rows, in the coordinates of the data."""
    gamma = float(f"{0.5 / sigma**2:.3g}")
    return Settings(
        data="spirals",
        data_options={"n_classes": n_classes, "n_per_class": n_per_class, "turns": turns, "noise": 0.02},
        method="MAC",
        method_options={"gamma": gamma, "reg_w": 1e-3, "early_stopping": False, "preprocessing": "none", **options},
        test_share=test,
    )


def _closing_in() -> Preset:
    settings = _spirals(
        3,
        250,
        1.0,
        0.12,
        n_centers=60,
        centers="random",
        n_components=3,
        reg_w=0.1,
        solver="lbfgs",
        max_iter=60,
        **SCHEDULE,
    )
    return Preset(
        "mac-certificate",
        "K = 3: the bound closes in",
        GROUP,
        settings,
        "No mapping and no classifiers of any dimension have an objective below the dashed line. Joint L-BFGS comes "
        "within one per cent of it; switch the solver to MAC, the paper's, and it ends about a quarter above.",
    )


def _cases() -> Preset:
    settings = Settings(
        data="moons",
        data_options={"n_samples": 250, "noise": 0.25, "n_noise_features": 0},
        method="MAC",
        method_options={
            "n_centers": 10,
            "gamma": 1.0,
            "reg_w": 1e-3,
            "early_stopping": False,
            "preprocessing": "none",
            "n_components": 2,
            "init": "blobs",
            "mu": 40.0,
            "mu_factor": 1.0,
            "max_iter": 40,
        },
        test_share=0.2,
    )
    return Preset(
        "mac-figure-1",
        "Fig. 1: three cases of a target",
        GROUP,
        settings,
        "A target stays on its image beyond the margin, moves to the margin, or falls short of it: step by step. The "
        "printed algorithm leaves its limit c open; 2C/μ is right.",
    )


# The paper's: mu grows when the passes at this mu have converged.
SCHEDULE: dict[str, Any] = {"max_inner": 50}

# From the start simplex the paper's passes begin where they end: nothing would be seen to move.
_OPENED: dict[str, Any] = {"solver": "lbfgs", "init": "random"}


def _centres() -> list[Preset]:
    notes = {
        10: "Ten Gaussians cannot follow the arms. Watch the images fall onto a line: with two classes a stationary "
        "mapping has rank one.",
        20: "The arms are half untangled; the images lie along a line.",
        40: "Forty Gaussians separate the arms; the two clusters tighten with more of them.",
        400: "Two tangled arms come apart, here by L-BFGS from a random start. From the start simplex, the paper's, "
        "they are two points before the first pass.",
    }
    return [
        Preset(
            f"mac-figure-2-{count}",
            f"Fig. 2: two spirals, M = {count:,}",
            GROUP,
            _spirals(
                2,
                1250,
                1.5,
                0.15,
                n_components=2,
                max_iter=40,
                centers="random",
                n_centers=count,
                **SCHEDULE,
                **(_OPENED if count == 400 else {}),
            ),
            note,
            slow_start=_OPENING_STEPS if count == 400 else 0,
        )
        for count, note in notes.items()
    ]


def _simplices() -> list[Preset]:
    notes = {
        2: "Two heaps come apart to the ends of a line, by L-BFGS from a random start. From a simplex, the paper's "
        "start, one ridge regression does most of the work.",
        3: "Three heaps open to the corners of a triangle, by L-BFGS from a random start. From the paper's start they "
        "are there at once, with an edge ratio above .99.",
        4: "A tetrahedron, seen in the plane of its two main directions: all edges agree within two per cent.",
        5: "Five corners in four dimensions. The layout is inherited from the start, not found: try the start blobs.",
        6: "Six corners in five dimensions, edge ratio about .90: the objective itself does not ask for a regular one.",
    }
    return [
        Preset(
            f"mac-figure-3-{count}",
            f"Fig. 3: K = {count}, L = {max(2, count - 1)}",
            GROUP,
            _spirals(
                count,
                200,
                1.0,
                0.12,
                0.0,
                centers="all",
                n_components=max(2, count - 1),
                max_iter=40,
                **SCHEDULE,
                **(_OPENED if count <= 3 else {}),
            ),
            note,
            slow_start=_OPENING_STEPS if count <= 3 else 0,
        )
        for count, note in notes.items()
    ]


def _one_dimension() -> Preset:
    return Preset(
        "mac-figure-3-line",
        "Fig. 3: K = 6, L = 1",
        GROUP,
        _spirals(6, 200, 1.0, 0.12, 0.0, centers="all", n_components=1, max_iter=40, **SCHEDULE),
        "The start gives each class a slot of its own. But a threshold against the rest cannot single out a class "
        "between two others: the passes end with a third of the rows wrong. Raise the latent dimensions and watch.",
    )


def _optimum() -> Preset:
    settings = _spirals(
        4, 200, 1.0, 0.12, 0.0, n_centers=60, centers="random", n_components=4, reg_w=0.1, solver="lbfgs", max_iter=80
    )
    return Preset(
        "mac-optimum-4",
        "K = 4: the optimum is no simplex",
        GROUP,
        settings,
        "The paper expects a regular simplex at the optimum. Here L-BFGS ends within about one per cent of the "
        "certified bound with an edge ratio of about .6, and four dimensions beat three.",
    )


def _perceptron() -> Preset:
    settings = Settings(
        data="spirals",
        data_options={"n_classes": 2, "n_per_class": 300, "turns": 1.5, "noise": 0.02},
        method="MAC",
        method_options={"mapping": "perceptron", "n_components": 2, "init": "pca", "max_iter": 40},
        test_share=0.2,
    )
    return Preset(
        "mac-perceptron",
        "Another mapping: a perceptron",
        GROUP,
        settings,
        "The mapping may be any regression. Here it is a perceptron of two layers, which goes on learning from pass to "
        "pass: the arms unfold in its latent space, and no lower bound is known.",
        mode="targets",
        slow_start=_OPENING_STEPS,
    )


# Options of Fig. 6.
PASSES: dict[str, Any] = {
    "centers": "all",
    "gamma": 0.00136,
    "preprocessing": "none",
    "n_components": 2,
    "init": "random",
    "early_stopping": False,
    "max_iter": 40,
}


def _two_step() -> list[Preset]:
    def settings(**options: Any) -> Settings:
        return Settings(data="digits_odd_even", method="MAC", method_options={**PASSES, **options}, test_share=0.7)

    return [
        Preset(
            "mac-figure-6",
            "Fig. 6: odd or even, MAC",
            GROUP,
            settings(reg_w=0.1, **SCHEDULE),
            "The paper's passes from a random start on 8 × 8 digits. They fall fast, then slowly, and end a third to a "
            "half above the certified floor: the paper calls a few passes near-optimal. Beside "
            "it among the examples of the comparison: two steps, and the solver L-BFGS.",
        ),
        Preset(
            "mac-figure-6-lbfgs",
            "Fig. 6: odd or even, L-BFGS",
            GROUP,
            settings(reg_w=0.1, solver="lbfgs"),
            "Joint L-BFGS from the same random start reaches the certified floor.",
        ),
        Preset(
            "mac-figure-6-stuck",
            "Fig. 6: odd or even, λ = 0.001",
            GROUP,
            settings(reg_w=1e-3, **SCHEDULE),
            "With this ridge the same start ends at about ten times the certified floor, and some seeds get stuck; "
            "the start simplex ends at twice the floor, and L-BFGS comes within a tenth of it from either.",
        ),
    ]
