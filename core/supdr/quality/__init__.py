"""Quality of a map: how well a plane preserves the neighbours, the distances and the classes of its rows.

from supdr.quality import map_quality, model_quality, row_trustworthiness

map_quality(X, Z, y)                  # all measures of a map
model_quality(model, X_test, y_test)  # of the map that a fitted model draws of new rows
row_trustworthiness(X, Z)             # one value per row: low among false neighbours
"""

from supdr.quality.distances import (
    class_centre_correlation,
    distance_correlation,
    distance_pairs,
    row_distance_correlation,
)
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
from supdr.quality.summary import MapQuality, map_quality, model_quality
from supdr.quality.votes import knn_error, row_knn_error

__all__ = [
    "ChangedNeighbours",
    "MapQuality",
    "changed_neighbours",
    "class_centre_correlation",
    "continuity",
    "distance_correlation",
    "distance_pairs",
    "knn_error",
    "map_quality",
    "model_quality",
    "neighbourhood_overlap",
    "row_batches",
    "row_continuity",
    "row_distance_correlation",
    "row_knn_error",
    "row_neighbourhood_overlap",
    "row_trustworthiness",
    "trustworthiness",
]
