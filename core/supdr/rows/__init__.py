"""Rows in partitions, on a Dask cluster or on this machine."""
