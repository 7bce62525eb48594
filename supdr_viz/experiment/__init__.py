"""Settings, as widgets, links, JSON and Python have them, and what is made of them: rows divided, an estimator."""
