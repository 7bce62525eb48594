"""Pictures: plain arrays, made from a snapshot."""
