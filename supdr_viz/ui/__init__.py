"""Widgets, colours and components: all that touches Panel or the browser directly."""
