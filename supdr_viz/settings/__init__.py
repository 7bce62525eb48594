"""The one table of settings: its knobs, its forms, and what is made of it."""
