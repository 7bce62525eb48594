"""
In a pipeline, under a search
=============================

Estimators are scikit-learn's: they stand in pipelines, and its searches choose their parameters. One coordinate
is too few for three classes.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import supdr

warnings.filterwarnings("ignore", "n_components=1 is fewer than")

X, y = supdr.datasets.load("wine").to_xy()
pipeline = make_pipeline(VarianceThreshold(), supdr.LSDR(max_iter=30, random_state=0))
search = GridSearchCV(pipeline, {"lsdr__n_components": [1, 2, 3, 5, 8]}, cv=5).fit(X, y)

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
found = search.cv_results_
ax.errorbar(
    found["param_lsdr__n_components"].data.astype(int),
    1 - found["mean_test_score"],
    found["std_test_score"],
    marker="o",
    capsize=3,
    color="0.3",
)
ax.set(xlabel="n_components", ylabel="error by five-fold cross-validation", ylim=(0, None))
