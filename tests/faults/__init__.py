"""Kill what can be killed at random moments, and look what is left."""
