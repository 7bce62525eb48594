"""Parameter sweeps on any executor of `concurrent.futures`, resumable through an SQLite store.

from supdr.sensitivity import Sweep, logarithmic

sweep = Sweep(supdr.NSDR(), {"reg_u": logarithmic(1e-6, 10, 8), "C": [0.1, 1, 10]}, store="sweep.sqlite")
for cell in sweep.run(X, y):
    print(cell.params, cell.mean("error"), cell.deviation("error"), cell.stops)
"""

from supdr.sensitivity.axes import linear, logarithmic
from supdr.sensitivity.executors import InProcess, crew_of, warm_up
from supdr.sensitivity.halving import search_by_halving
from supdr.sensitivity.importance import Importance, functional_anova, importance
from supdr.sensitivity.maps import aligned_maps
from supdr.sensitivity.outcome import Cell, Outcome, Result
from supdr.sensitivity.store import Store, StoreError
from supdr.sensitivity.sweep import Progress, Sweep, SweepError

__all__ = [
    "Cell",
    "Importance",
    "InProcess",
    "Outcome",
    "Progress",
    "Result",
    "Store",
    "StoreError",
    "Sweep",
    "SweepError",
    "aligned_maps",
    "crew_of",
    "functional_anova",
    "importance",
    "linear",
    "logarithmic",
    "search_by_halving",
    "warm_up",
]
