"""Programs that treat a running server as visitors, and the world, do."""
