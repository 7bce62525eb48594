"""Folders and ZIP archives: images whose folders are classes, arrays beside a table of their rows, or a table."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from supdr.datasets._binary import COLOURS, flattened, framed, opened_array, view_frame
from supdr.datasets._tables import Table, check_names
from supdr.datasets.limits import (
    FileProblem,
    Limits,
    check_bytes,
    check_shape,
    check_unpacked,
    chosen_one,
    complete,
    listed,
    reason_of,
)
from supdr.datasets.proposals import sized
from supdr.engine.optional import require

if TYPE_CHECKING:
    from PIL import Image

IMAGES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".bmp": "BMP", ".gif": "GIF"}
ARRAY = ".npy"
TARGET = "class"

# Reads a table, given its bytes and its name.
Reader = Callable[[bytes, str], Table]


def packed(folder: Path, limits: Limits) -> bytes:
    """Return the files of a folder, those in its folders included, as a ZIP archive without compression."""
    files = sorted(islice((path for path in folder.rglob("*") if path.is_file()), limits.max_rows + 1))
    check_shape(limits, folder.name, len(files), 1)
    check_bytes(limits, folder.name, sum(path.stat().st_size for path in files))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in files:
            archive.writestr(path.relative_to(folder).as_posix(), path.read_bytes())
    return buffer.getvalue()


def read_zip(
    data: bytes, name: str, limits: Limits, sheet: str | None, endings: tuple[str, ...], reader: Reader
) -> Table:
    """Read images by class, or arrays and a table; `reader` reads files that have one of the `endings`."""
    errors = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
    with complete(name, "ZIP archive", *errors), zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [each for each in archive.infolist() if not each.is_dir() and not _hidden(each.filename)]
        check_unpacked(limits, name, sum(each.file_size for each in members))
        check_shape(limits, name, len(members), 1)
        files = {each.filename: archive.read(each) for each in members}
    images = {path: content for path, content in files.items() if _ending(path) in IMAGES}
    arrays = {path: content for path, content in files.items() if _ending(path) == ARRAY}
    tables = [path for path in files if path.lower().removesuffix(".gz").endswith(endings)]
    if images:
        table, used = _read_images(images, name, limits), list(images)
    elif tables:
        chosen = chosen_one(sheet, tables, name)
        table = replace(reader(files[chosen], PurePosixPath(chosen).name), sheets=tuple(tables), sheet=chosen)
        table, used = _beside(table, arrays, name, limits) if arrays else table, [*arrays, chosen]
    else:
        raise FileProblem(f"{name} holds neither images in folders nor a table{' beside its arrays' * bool(arrays)}.")
    rest = [path for path in files if path not in used]
    return replace(table, notes=(*table.notes, f"Files left out: {listed(rest)}.")) if rest else table


def _hidden(path: str) -> bool:
    """Whether a system has put a file there, not a person."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)


def _ending(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _beside(table: Table, arrays: Mapping[str, bytes], name: str, limits: Limits) -> Table:
    """Put the columns of arrays in front of a table of the same rows, whose columns describe the rows."""
    import pandas as pd

    views, sizes = flattened({path: opened_array(content, path, name, limits) for path, content in arrays.items()})
    for path, array in views.items():
        if array.ndim != 2 or array.dtype.kind not in "biuf" or len(array) != len(table.frame):
            raise FileProblem(
                f"{path} in {name} must hold {len(table.frame):,} rows of numbers, as {table.sheet} does; it has shape "
                f"{array.shape} and type {array.dtype}."
            )
    check_shape(limits, name, len(table.frame), sum(each.shape[1] for each in views.values()) + table.frame.shape[1])
    stems = {path: PurePosixPath(path).stem for path in views}
    check_names(stems.values())
    sizes = {stems[path]: size for path, size in sizes.items()}
    frames, shape, notes = framed({stems[path]: array for path, array in views.items()}, sizes)
    frame = pd.concat([*frames, table.frame], axis=1)
    check_names(frame.columns)
    return replace(
        table,
        frame=frame,
        format=f"{sized(len(arrays), 'arrays')} and {table.format}",
        annotations=tuple(table.frame.columns),
        notes=(*table.notes, *notes),
        image_shape=shape,
    )


def _read_images(images: Mapping[str, bytes], name: str, limits: Limits) -> Table:
    """Read images of one size as rows of grey values, or of red, green and blue; their folders are the classes."""
    require("Reading images", "PIL", extra="files")
    import pandas as pd

    rows, classes, first, size = [], [], "", (0, 0)
    for path, content in images.items():
        folders = PurePosixPath(path).parts[:-1]
        if not folders:
            raise FileProblem(f"{path} in {name} is in no folder; the class of an image is the name of its folder.")
        image = _opened(content, path)
        if not first:
            first, size = path, image.size
            check_shape(limits, name, len(images), size[0] * size[1])
        if image.size != size:
            raise FileProblem(
                f"{path} has {_pixels(image.size)} pixels, {first} has {_pixels(size)}: all must be alike."
            )
        rows.append(_planes(image, path))
        classes.append(folders[-1])
    pixels = np.stack(rows)  # (n, 3, height * width)
    grey = bool((pixels == pixels[:, :1]).all())
    planes = {"grey": pixels[:, 0]} if grey else {COLOURS[k]: pixels[:, k] for k in range(3)}
    check_shape(limits, name, len(rows), len(planes) * pixels.shape[2])
    frames = [view_frame(colour, plane, None, len(planes)) for colour, plane in planes.items()]
    return Table(
        pd.concat([*frames, pd.DataFrame({TARGET: classes}, dtype=str)], axis=1),
        format=f"{'grey' if grey else 'colour'} images of {_pixels(size)} pixels",
        target=TARGET,
        image_shape=size[::-1],
    )


def _opened(content: bytes, path: str) -> Image.Image:
    """Return an image of which only the size has been read."""
    from PIL import Image

    try:
        return Image.open(io.BytesIO(content), formats=sorted(set(IMAGES.values())))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise FileProblem(f"{path} is no image that can be read ({reason_of(error)}).") from None


def _planes(image: Image.Image, path: str) -> np.ndarray:
    """Return red, green and blue of an image, each (height * width,)."""
    try:
        return np.asarray(image.convert("RGB")).reshape(-1, 3).T
    except (OSError, ValueError, SyntaxError) as error:
        raise FileProblem(f"{path} is no image that can be read ({reason_of(error)}).") from None


def _pixels(size: tuple[int, int]) -> str:
    return f"{size[0]} × {size[1]}"
