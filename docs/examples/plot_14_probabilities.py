"""
Are the probabilities right?
============================

Of the rows to which a model gives 80 %, four in five should be of that class. ``predict_proba`` is calibrated
by rows that the scores have not seen.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

import supdr

X, y = make_classification(2000, 20, n_informative=6, class_sep=0.6, flip_y=0.1, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.75, random_state=0)

figure, ax = plt.subplots(figsize=(4.4, 4), layout="constrained")
for model in (supdr.LSDR(2, random_state=0), supdr.MAC(random_state=0)):
    model.fit(X_train, y_train)
    CalibrationDisplay.from_estimator(model, X_test, y_test, n_bins=8, strategy="quantile", ax=ax)
