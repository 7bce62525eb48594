"""Pictures of prepared things, drawn once by a command and kept in the package: reading one, drawing them anew."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from supdr_viz.presets.preset import Preset

T = TypeVar("T")


def stored(folder: Path, name: str) -> bytes | None:
    """Return a picture that is kept, if there is one.

    Returns webP.
    """
    path = folder / f"{name}.webp"
    return path.read_bytes() if path.exists() else None


def draw_all(
    what: str,
    presets: Mapping[str, Preset[T]],
    folder: Path,
    draw: Callable[[Preset[T]], bytes],
    arguments: Sequence[str] | None,
) -> None:
    """Draw the pictures that a command line names, or all whose data are included, into their folder.

    `what`: one of them: "example"; `presets`: by name; `draw`: ``draw(preset)`` returns WebP; `arguments`: of the
    command line.
    """
    able = [name for name, preset in presets.items() if preset.needs is None]
    parser = argparse.ArgumentParser(description=f"Draw the pictures of every {what} whose data are included.")
    parser.add_argument("names", nargs="*", metavar=what.upper(), help="only these; default: all")
    names = parser.parse_args(arguments).names or able
    if unknown := [name for name in names if name not in able]:
        parser.error(f"there is no {what} {unknown[0]!r} whose data are included; there are {', '.join(able)}")
    folder.mkdir(exist_ok=True)
    for name in names:
        picture = draw(presets[name])
        (folder / f"{name}.webp").write_bytes(picture)
        print(f"{name}.webp: {len(picture) / 1e3:.1f} kB", flush=True)
