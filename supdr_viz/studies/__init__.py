"""Experiments that the explorer, the command line and the benchmarks share."""
