"""One visitor's run: played, painted and recorded."""
