"""What is drawn: plain arrays, made from a snapshot."""
