"""Points that are drawn by hand: how many there may be, and how far they may lie."""

# First coordinate, second coordinate, code of the class.
Point = tuple[float, float, int]

MAX_DRAWN = 300

# Of the absolute value of a coordinate.
LARGEST = 1e3
