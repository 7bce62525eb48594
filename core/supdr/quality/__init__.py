"""Quality of a map, and how far to believe it: neighbours, distances, classes; chance, stability, reasons.

from supdr.quality import map_quality, model_quality, row_trustworthiness

map_quality(X, Z, y)                  # all numbers of a map
model_quality(model, X_test, y_test)  # of rows that a fitted model has not seen
row_trustworthiness(X, Z)             # of every row
label_permutation(MAC(), X, y)        # could chance do this?
stability(MAC(), X, y)                # would it look the same again?
explain_row(model, X[0])              # why is it here?
"""

from supdr.quality.clusters import ClusterReliability, cluster_reliability, iterate_cluster_reliability
from supdr.quality.curves import ClassTrust, TrustCurve, class_trust, iterate_trust_curve, trust_curve
from supdr.quality.distances import (
    class_centre_correlation,
    distance_correlation,
    distance_pairs,
    row_distance_correlation,
)
from supdr.quality.explanations import RowExplanation, biplot_arrows, explain_row, map_derivative
from supdr.quality.neighbourhoods import (
    ChangedNeighbours,
    changed_neighbours,
    continuity,
    neighbourhood_overlap,
    row_batches,
    row_continuity,
    row_neighbourhood_overlap,
    row_trustworthiness,
    trustworthiness,
)
from supdr.quality.permutations import LabelPermutation, iterate_label_permutation, label_permutation
from supdr.quality.resampling import Stability, iterate_stability, stability
from supdr.quality.selections import Interval, SelectionExplanation, explain_pair, explain_selection
from supdr.quality.summary import MapQuality, map_quality, model_quality
from supdr.quality.votes import knn_error, row_knn_error

__all__ = [
    "ChangedNeighbours",
    "ClassTrust",
    "ClusterReliability",
    "Interval",
    "LabelPermutation",
    "MapQuality",
    "RowExplanation",
    "SelectionExplanation",
    "Stability",
    "TrustCurve",
    "biplot_arrows",
    "changed_neighbours",
    "class_centre_correlation",
    "class_trust",
    "cluster_reliability",
    "continuity",
    "distance_correlation",
    "distance_pairs",
    "explain_pair",
    "explain_row",
    "explain_selection",
    "iterate_cluster_reliability",
    "iterate_label_permutation",
    "iterate_stability",
    "iterate_trust_curve",
    "knn_error",
    "label_permutation",
    "map_derivative",
    "map_quality",
    "model_quality",
    "neighbourhood_overlap",
    "row_batches",
    "row_continuity",
    "row_distance_correlation",
    "row_knn_error",
    "row_neighbourhood_overlap",
    "row_trustworthiness",
    "stability",
    "trust_curve",
    "trustworthiness",
]
