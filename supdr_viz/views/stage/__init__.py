"""The tree of what a browser draws, and its way there: one binary message a frame."""
