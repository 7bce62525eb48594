"""All that touches the UI kit or the browser directly."""
