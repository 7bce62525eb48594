"""Views: `Scene`, `Frame` and `Surface` on the screen."""
