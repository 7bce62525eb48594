"""Rows that are pictures, as data URIs for the tooltip."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encode_picture(pixels: NDArray) -> bytes:
    """Encode a grey picture as PNG.

    Parameters
    ----------
    pixels : uint8 array of shape (h, w)

    Returns
    -------
    bytes
        A PNG file: 8-bit grey, no filters.
    """
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    # Each line of a PNG starts with the number of its filter; 0 is none.
    lines = np.hstack([np.zeros((height, 1), dtype=np.uint8), pixels.astype(np.uint8)])
    data = zlib.compress(lines.tobytes(), 1)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def encode_pictures(images: NDArray) -> list[str]:
    """Encode pictures (n, h, w) as data URIs, one per row."""
    return ["data:image/png;base64," + base64.b64encode(encode_picture(image)).decode("ascii") for image in images]
