"""The pictures of examples and prepared sweeps; ``python scripts/example_pictures.py`` draws them anew."""

from __future__ import annotations

from pathlib import Path

# Folders with a picture of every example, and of every prepared sweep, whose data are included.
GALLERY, SWEEPS = (Path(__file__).parent.parent / "assets" / name for name in ("gallery", "sweeps"))

# Pixels across and down; those of the gallery are twice as wide: at the left for a light page, at the right for a dark.
SIZE = (372, 181)


def stored(folder: Path, name: str) -> bytes | None:
    """Return the picture of an example (WebP), if there is one."""
    path = folder / f"{name}.webp"
    return path.read_bytes() if path.exists() else None
