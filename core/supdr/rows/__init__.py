"""Rows that are spread over partitions: on a Dask cluster, or one after another on this machine."""
