"""Several runs beside each other on the same rows."""
