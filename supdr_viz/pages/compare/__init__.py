"""The page that compares several runs on the same rows."""
