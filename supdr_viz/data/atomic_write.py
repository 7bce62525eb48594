"""Files that are written whole or not at all, and what is said where a disk takes no more."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no reader finds a part of it under its name.

    `path`: what was there before stays as it is if the file cannot be written. Raises OSError if it cannot be written;
    its message says why and names the file.
    """
    if path.exists() and not path.is_file():  # a device, or a pipe: there is nothing to put in its place
        path.write_bytes(content)
        return
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {disk_trouble(error) or error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)


def disk_trouble(error: OSError) -> str:
    """Say in a few words what is wrong with a disk.

    Returns empty if the disk is not what is wrong.
    """
    if error.errno in _FULL:
        return "the disk is full"
    return "there is no right to write there" if error.errno in _CLOSED else ""
