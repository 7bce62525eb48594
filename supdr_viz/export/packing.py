"""Pictures and images as JSON for the scripts of a report: small, and read in one go."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from supdr_viz.frames.picture import Picture, some_rows
from supdr_viz.frames.scene import Extent

LEVELS, HIDDEN = 65534, 65535
"""Places are 16-bit shares of an extent; HIDDEN: there is none."""


def packed_places(rows: NDArray, extent: Extent, *, clip: bool = True) -> str:
    """Write places (n, 2) as shares of the extent.

    Parameters
    ----------
    rows : array of shape (n, 2)
        NaN: hidden.
    extent : tuple of float
        (x_low, x_high, y_low, y_high).
    clip : bool
        Move what lies outside to the border; else it is hidden.

    Returns
    -------
    str
        Base64 of little-endian 16-bit numbers.
    """
    low, span = np.array(extent[::2]), np.array([extent[1] - extent[0], extent[3] - extent[2]])
    shares = (np.asarray(rows, dtype=float) - low) / span
    inside = np.isfinite(shares).all(axis=1)
    if not clip:
        inside &= ((shares >= 0.0) & (shares <= 1.0)).all(axis=1)
    shares[~inside] = 0.0
    levels = (np.clip(shares, 0.0, 1.0) * LEVELS).round()
    levels[~inside] = HIDDEN
    return _text(levels.astype("<u2").tobytes())


def packed_image(levels: NDArray) -> str:
    """Write small whole numbers (h, w), first row lowest, as a grey PNG: the reader's theme gives them colours.

    Parameters
    ----------
    levels : uint8 array of shape (h, w)

    Returns
    -------
    str
        Base64.
    """
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(levels[::-1], dtype=np.uint8)).save(out, "PNG", optimize=True)
    return _text(out.getvalue())


def packed_picture(picture: Picture) -> dict[str, Any]:
    """Return a method's picture as the script ``picture.js`` takes it.

    Parameters
    ----------
    picture : Picture

    Returns
    -------
    dict
        Ready for JSON.
    """
    extent = picture.extent
    rows, tips, marks = picture.rows, picture.tips, picture.marks
    return {
        "extent": [float(value) for value in extent],
        "roles": list(picture.roles),
        "rows": None if rows is None else packed_places(rows, extent, clip=False),
        "row_roles": None if picture.row_role is None else _text(picture.row_role.astype(np.uint8).tobytes()),
        "tips": None if tips is None else packed_places(some_rows(tips), extent, clip=False),
        "tip_mark": picture.tip_mark,
        "small": picture.has_small_rows,
        "strokes": [
            {
                "points": _floats(stroke.points),
                "role": int(stroke.role),
                "width": stroke.width,
                "dash": stroke.dash,
                "alpha": stroke.alpha,
            }
            for stroke in picture.strokes
        ],
        "areas": [
            {"points": _floats(area.points), "role": int(area.role), "alpha": area.alpha} for area in picture.areas
        ],
        "marks": None if marks is None else _floats(marks),
        "mark_roles": [] if picture.mark_role is None else [int(role) for role in picture.mark_role],
        "image": None if picture.image is None else packed_image(picture.image),
        "photo": None if picture.photo is None else packed_image(picture.photo),
        "shades": picture.shades,
        "alpha": picture.image_alpha,
        "tags": [
            {"x": float(tag.x), "y": float(tag.y), "text": tag.text, "role": int(tag.role), "align": tag.align}
            for tag in picture.tags
        ],
        "axes": picture.axis_labels,
        "ticks": picture.ticks,
        "keys": [key._asdict() for key in picture.keys],
        "numbers": " · ".join(f"{number.name} {number}" for number in picture.numbers),
        "caption": picture.caption,
    }


def _floats(values: ArrayLike) -> str:
    return _text(np.ascontiguousarray(values, dtype="<f4").tobytes())


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
