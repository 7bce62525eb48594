"""Arrays on disk of which only what is asked for is read: `.npy`, `.zarr`, and the arrays of an `.npz` file."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supdr.engine.checks import FileProblem
from supdr.engine.optional import require

# Version (3, 0) is for structured arrays, which are not tables of numbers.
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
# Bytes of what stands before each file of a ZIP; the lengths of its name and of its extra field are the last four.
LOCAL_HEADER = 30


class Stored(NamedTuple):
    """Where an array is: a file, and the name of a member of an ``.npz`` file."""

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """What it is called in a sentence."""
        return f"{self.member} in {self.path.name}" if self.member else self.path.name


def opened(stored: Stored, dimensions: int) -> Any:
    """Return an array of numbers, mapped into memory or read as it is sliced; FileProblem if there is none."""
    try:
        values = unchecked(stored)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        ending = stored.path.suffix
        kind = ".zarr folder" if ending == ".zarr" else f"{ending} file"
        raise FileProblem(f"{stored.path} is no {kind} of numbers that can be read: {error}") from None
    if values.ndim != dimensions or values.dtype.kind not in "buif" or not values.size:
        raise FileProblem(
            f"{stored.name} must hold numbers in {dimensions} dimensions, at least one; it has shape {values.shape} "
            f"and type {values.dtype}."
        )
    return values


def shape_of(path: Path) -> tuple[int, ...]:
    """Return the shape of a ``.npy`` file or a ``.zarr`` folder; FileProblem if there is none."""
    try:
        return tuple(unchecked(Stored(path)).shape)
    except (OSError, ValueError, KeyError) as error:
        raise FileProblem(f"{path.name} cannot be read: {error}") from None


def unchecked(stored: Stored) -> Any:
    """Return an array, whatever it holds; see `opened`."""
    if stored.path.suffix == ".zarr":
        require("Reading Zarr", "zarr", extra="dask")
        import zarr

        return zarr.open_array(stored.path, mode="r")
    if stored.member:
        return _mapped(stored)
    return np.load(stored.path, mmap_mode="r", allow_pickle=False)


def members(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of the arrays of an ``.npz`` file, from its headers; FileProblem if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            shapes = {}
            for each in archive.infolist():
                with archive.open(each) as file:
                    shapes[each.filename.removesuffix(".npy")] = header(file)[0]
            return shapes
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, KeyError) as error:
        raise FileProblem(f"{path} is no .npz file of numbers that can be read: {error}") from None


def header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Return shape, whether columns are neighbours, and type; the file then stands at the numbers."""
    version = np.lib.format.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"it has version {version} of the format")
    return HEADERS[version](file)


def _mapped(stored: Stored) -> NDArray:
    """Return an array of an ``.npz`` file as it lies there."""
    with zipfile.ZipFile(stored.path) as archive, open(stored.path, "rb") as file:
        info = archive.getinfo(f"{stored.member}.npy")
        if info.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"{stored.member} is compressed; np.savez writes arrays that can be read in parts")
        file.seek(info.header_offset + LOCAL_HEADER - 4)
        lengths = np.frombuffer(file.read(4), dtype="<u2")
        file.seek(int(lengths.sum()), 1)
        shape, by_columns, kind = header(file)
        if kind.hasobject:
            raise ValueError(f"{stored.member} holds Python objects")
        order: Any = "F" if by_columns else "C"
        return np.memmap(stored.path, kind, "r", file.tell(), shape, order)
