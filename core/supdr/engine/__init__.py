"""The core protocol (`iterate`) and the scikit-learn shell (`estimator`) of all methods."""
