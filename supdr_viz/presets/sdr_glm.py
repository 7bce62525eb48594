"""Prepared settings of SDR-GLM: what its paper shows, on data that are drawn by stated rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from supdr_viz.experiment.settings import Settings
from supdr_viz.presets.preset import Preset

GROUP = "Figures of the SDR-GLM paper"

# The paper's ridges, and the weight with which the notes were measured.
_OLD: dict[str, Any] = {"recon_ratio": 0.1, "reg_u": 0.01, "reg_v": 0.01}

# The paper's reading of the ridges.
_UNSCALED: dict[str, Any] = {"reg_scaling": "none", "preprocessing": "none"}


def sdr_glm_presets() -> list[Preset]:
    """Return the presets of SDR-GLM, in the order of the menu."""
    return [*_ascents(), *_columns(), *_weights(), _threshold(), *_new_rows(), *_bits(), *_regression()]


def _latent(noise: str, n_features: int, scale: float, method: str = "SDRGLM", **options: Any) -> Settings:
    """Two classes, two latent factors, 100 rows to train on and 100 to test."""
    return Settings(
        data=f"latent_{noise}",
        data_options={"n_samples": 200, "n_features": n_features, "scale": scale},
        method=method,
        method_options={"preprocessing": "none", **(_OLD if method == "SDRGLM" else {}), **options},
        test_share=0.5,
    )


def _ascents() -> list[Preset]:
    options: dict[str, Any] = {**_UNSCALED, "n_components": 3, "recon_weight": 1e-3, "tol": 0.0}
    literal = _latent("gaussian", 30, 3.0, solver="literal", max_iter=800, **options)
    fast = _latent("gaussian", 30, 3.0, max_iter=60, **options)
    return [
        Preset(
            "sdr-glm-ascent-literal",
            "J rises: the paper's sweep",
            GROUP,
            literal,
            "J never falls, but with a small λ it creeps: 620 sweeps until it is within 0.1 % of the best value we "
            "found.",
            mode="ascent",
        ),
        Preset(
            "sdr-glm-ascent-fast",
            "J rises: inner steps and gauge",
            GROUP,
            fast,
            "The same ascent with inner steps, and with factors that are turned to the smallest ridges after every "
            "sweep: 30 sweeps instead of 620 to the same 0.1 %.",
            mode="ascent",
        ),
    ]


def _columns() -> list[Preset]:
    """Figures 1a and 1c: the signal of a row stays, more and more columns share it.

    Notes give means over the seeds 0 to 9; the seed shown is within .06 of them in all six.
    """
    shown = [
        (
            "100",
            "Fig. 1a: 100 columns of bits",
            _latent("bits", 100, 3.0),
            "Over ten seeds the test error was .05. Every bit says little, all of them together a lot.",
        ),
        (
            "1000",
            "Fig. 1a: 1,000 columns of bits",
            _latent("bits", 1000, 3.0),
            "Over ten seeds the test error was .13. The paper reports 0 to .05 where a linear SVM has .14 to .21; here "
            "the SVM has .15, and no scale of the data that we tried shows the paper's gap.",
        ),
        (
            "gaussian",
            "Fig. 1a: the same bits as numbers",
            _latent("bits", 1000, 3.0, family_x="gaussian"),
            "Taking the bits for real numbers costs nothing: over ten seeds the test error was .13 either way.",
        ),
        (
            "udr",
            "Fig. 1a: reduced without labels",
            _latent("bits", 1000, 3.0, "LogisticUDR", tol=1e-4),
            "Over ten seeds the test error was .20, with labels .13: what the paper says of supervision does show.",
        ),
        (
            "sdr",
            "Fig. 1c: 1,000 Gaussian columns",
            _latent("gaussian", 1000, 1.5),
            "Over ten seeds the test error was .14, that of a linear SVM .15.",
        ),
        (
            "svdm",
            "Fig. 1c: SVDM",
            _latent("gaussian", 1000, 1.5, "SVDM", recon_weight=0.01),
            "The same rows under a hinge loss: over ten seeds the test error was .18 against .14.",
        ),
    ]
    return [
        Preset(f"sdr-glm-figure-1-{key}", label, GROUP, replace(settings, seed=2), note)
        for key, label, settings, note in shown
    ]


def _wide(**options: Any) -> Settings:
    return Settings(
        data="wide_factors",
        data_options={"n_samples": 84, "n_features": 500},
        method="SDRGLM",
        method_options={"preprocessing": "none", **_OLD, **options},
        seed=6,
    )


def _weights() -> list[Preset]:
    """Figure 1b's question, the weight of the reconstruction, where other factors are louder than the class."""
    return [
        Preset(
            "sdr-glm-figure-1-labels",
            "Fig. 1b on six factors: labels lead, κ = 0.01",
            GROUP,
            _wide(recon_ratio=0.01),
            "The class is the quietest of six factors. Drag κ up while it runs: over ten seeds the test error rises "
            "from .08 to .12 (κ = 0.1), .29 (1) and .35 (10).",
            mode="balance",
        ),
        Preset(
            "sdr-glm-figure-1-features",
            "Fig. 1b on six factors: features lead, κ = 10",
            GROUP,
            _wide(recon_ratio=10.0),
            "The plane shows the two loudest factors, and the classes mix: over ten seeds the test error was .35, "
            "nearly that of a reduction without labels (.44). A linear SVM on all columns makes no error worth "
            "mentioning (.004).",
            mode="balance",
        ),
    ]


def _threshold() -> Preset:
    return Preset(
        "sdr-glm-threshold",
        "Small λ: the ridges kill components",
        GROUP,
        _latent("gaussian", 200, 3.0, n_components=6, recon_weight=1e-4, reg_scaling="none"),
        "Ridges on both factors subtract √(λU λV) / 2cλ = 50 from every singular value of X, and none is that large: "
        "what is left was made by the labels. Raise λ to 0.001 and press Reset: all six are there, each less 5. What a "
        "run has lost does not come back in it.",
        mode="spectrum",
    )


def _new_rows() -> list[Preset]:
    small = _latent("bits", 200, 3.0, recon_weight=1e-4, reg_scaling="none")
    large = _latent("bits", 200, 3.0, recon_weight=0.01, reg_scaling="none")
    return [
        Preset(
            "sdr-glm-new-rows",
            "Training rows as new ones, λ = 0.0001",
            GROUP,
            small,
            "Without their labels the ridge pulls rows to 0: to 1 or 2 % of their size. Hence the predictor is fitted "
            "again on the hollow points.",
            mode="new_rows",
        ),
        Preset(
            "sdr-glm-new-rows-large",
            "Training rows as new ones, λ = 0.01",
            GROUP,
            large,
            "A hundred times the weight: the hollow points are where the filled ones are, up to what the labels did.",
            mode="new_rows",
        ),
    ]


def _bits() -> list[Preset]:
    return [
        Preset(
            "sdr-glm-bits",
            "Digits 3 and 8 as bits",
            GROUP,
            Settings(data="digits_bits", method="SDRGLM", method_options=_OLD),
            "Above a bit, below it its probability, then the log-odds. Test error .047 over ten seeds, of a linear SVM "
            ".044.",
            mode="parameters",
        ),
        Preset(
            "sdr-glm-bits-gaussian",
            "Digits 3 and 8, bits as numbers",
            GROUP,
            Settings(
                data="digits_bits",
                method="SDRGLM",
                method_options={"family_x": "gaussian", "preprocessing": "none", **_OLD},
            ),
            "The paper finds the Bernoulli model better on bits. Not here: .031 against .047 over ten seeds.",
        ),
    ]


def _regression() -> list[Preset]:
    def settings(method: str = "SDRGLM", **options: Any) -> Settings:
        return Settings(
            data="wide_regression",
            data_options={"n_features": 500},
            method=method,
            method_options={"preprocessing": "none", **(_OLD if method == "SDRGLM" else {}), **options},
            test_share=0.5,
        )

    notes = {
        2: "Two dimensions for a response of four slow factors: correlation .84 on test rows (five seeds), of at most "
        ".894. Rows are moments in time, so that most test rows have neighbours among the training rows.",
        5: "Over five seeds the correlation was .87.",
        10: "Over five seeds the correlation was .88; with 20 dimensions it is .86.",
    }
    return [
        *(
            Preset(
                f"sdr-glm-figure-2-{count}",
                f"Fig. 2: regression, L = {count}",
                GROUP,
                settings(n_components=count),
                note,
                mode="predictions",
            )
            for count, note in notes.items()
        ),
        Preset(
            "sdr-glm-figure-2-elastic-net",
            "Fig. 2: regression, Elastic Net",
            GROUP,
            settings("ElasticNet", alpha=0.3),
            "The competitor, on all columns: correlation .88, as SDR-GLM. On 33,000 columns it falls behind by "
            ".04, as in the paper.",
            mode="predictions",
        ),
    ]
