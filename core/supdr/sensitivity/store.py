"""Finished fits in an SQLite file, which an interrupted sweep reads again and several sweeps can share."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supdr.sensitivity.outcome import Outcome

APPLICATION = 0x53444C52
VERSION = 1
BUSY_SECONDS = 5.0

# Number of keys per query: SQLite limits the variables of a statement.
BATCH = 500

# Columns that hold fields of an `Outcome` without conversion.
FIELDS = ("stop", "iterations", "seconds", "shared", "warm", "error")

_TABLE = """
CREATE TABLE IF NOT EXISTS fits (
    key TEXT PRIMARY KEY,
    estimator TEXT NOT NULL,
    params TEXT NOT NULL,
    seed INTEGER NOT NULL,
    fold INTEGER NOT NULL,
    scores TEXT NOT NULL,
    stop TEXT NOT NULL,
    iterations INTEGER,
    seconds REAL NOT NULL,
    shared TEXT NOT NULL,
    warm INTEGER NOT NULL,
    error TEXT NOT NULL,
    finished REAL NOT NULL
)
"""

_MAPS = "CREATE TABLE IF NOT EXISTS maps (key TEXT PRIMARY KEY, points BLOB NOT NULL)"


class StoreError(RuntimeError):
    """The store cannot be read or written; the message has the reason and a remedy."""


class Store:
    """An SQLite file of finished fits.

    Parameters
    ----------
    path : str or Path
        Created if it does not exist; ``":memory:"``: no file.
    busy_seconds : float
        Longest wait for another program that is writing, in seconds.

    Raises
    ------
    StoreError
        If the file is no store of sweeps, damaged, locked, or cannot be written.

    Notes
    -----
    Every write is a transaction in SQLite's write-ahead log: a killed process loses nothing that was written.
    """

    def __init__(self, path: str | Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path, self.busy_seconds = str(path), busy_seconds
        if self.path != ":memory:" and not Path(self.path).absolute().parent.is_dir():
            raise StoreError(f"there is no folder {Path(self.path).absolute().parent} for the store {self.path}")
        with self._explained():
            self._connection = sqlite3.connect(self.path, timeout=busy_seconds, check_same_thread=False)
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise

    def _open(self) -> None:
        application = self._connection.execute("PRAGMA application_id").fetchone()[0]
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != APPLICATION and tables:
            raise StoreError(f"{self.path} is a database of another program; choose another file for the store")
        if application == APPLICATION:
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise StoreError(f"{self.path} was written by a newer version of supdr; update, or choose another file")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if application != APPLICATION:
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {VERSION}")
        with self._connection:
            self._connection.execute(_TABLE)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._explained():
            return int(self._connection.execute("SELECT count(*) FROM fits").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, estimator: str, rows: Iterable[tuple[str, dict[str, Any], Outcome]]) -> None:
        """Write finished fits with their maps in one transaction; existing ones are not changed.

        Parameters
        ----------
        estimator : str
            Name of the method.
        rows : iterable of (key, parameters, outcome)

        Raises
        ------
        StoreError
            If the file is locked, the disk is full, or the file is damaged.
        """
        rows = list(rows)
        values = [
            (
                key,
                estimator,
                json.dumps(params, default=repr),
                outcome.seed,
                outcome.fold,
                json.dumps(outcome.scores),
                *(getattr(outcome, name) for name in FIELDS),
                time.time(),
            )
            for key, params, outcome in rows
        ]
        maps = [(key, outcome.map.astype("<i2").tobytes()) for key, _, outcome in rows if outcome.map is not None]
        marks = ", ".join("?" * 13)
        with self._explained(), self._connection:
            self._connection.executemany(f"INSERT OR IGNORE INTO fits VALUES ({marks})", values)
            if maps:
                self._connection.execute(_MAPS)
                self._connection.executemany("INSERT OR IGNORE INTO maps VALUES (?, ?)", maps)

    def find(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the stored fits with these keys: key -> fields of an `Outcome`.

        Parameters
        ----------
        keys : iterable of str

        Returns
        -------
        dict
        """
        rows = self._select(f"key, scores, {', '.join(FIELDS)} FROM fits", keys)
        return {key: {"scores": json.loads(scores), **dict(zip(FIELDS, rest))} for key, scores, *rest in rows}

    def find_maps(self, keys: Iterable[str]) -> dict[str, NDArray]:
        """Return the stored maps with these keys: key -> int16 positions (n_rows, 2), without rows if a fit has none.

        Parameters
        ----------
        keys : iterable of str

        Returns
        -------
        dict
        """
        if not self._has_maps:
            return {}
        rows = self._select("key, points FROM maps", keys)
        return {key: np.frombuffer(points, "<i2").reshape(-1, 2) for key, points in rows}

    @property
    def _has_maps(self) -> bool:
        """Whether any map was written."""
        with self._explained():
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'maps'")
            return bool(tables.fetchone()[0])

    def _select(self, columns: str, keys: Iterable[str]) -> list[Any]:
        """Return the rows of a table, with these keys."""
        distinct, rows = list(dict.fromkeys(keys)), []
        with self._explained():
            for first in range(0, len(distinct), BATCH):
                part = distinct[first : first + BATCH]
                marks = ", ".join("?" * len(part))
                rows += self._connection.execute(f"SELECT {columns} WHERE key IN ({marks})", part).fetchall()
        return rows

    def forget(self, keys: Iterable[str]) -> None:
        """Remove fits, so that a sweep computes them again.

        Parameters
        ----------
        keys : iterable of str
        """
        with self._explained(), self._connection:
            marks = [(key,) for key in keys]
            self._connection.executemany("DELETE FROM fits WHERE key = ?", marks)
            if self._has_maps:
                self._connection.executemany("DELETE FROM maps WHERE key = ?", marks)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(_reason(self.path, error)) from error


def _reason(path: str, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the store {path} is locked: another program is writing to it. End that one, or choose another file"
    if code == sqlite3.SQLITE_FULL:
        return f"the disk is full: the store {path} cannot grow. Free some space and run again; finished cells are kept"
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return f"{path} is damaged or not a store of sweeps. Choose another file, or remove this one and start afresh"
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"the store {path} cannot be opened for writing: {error}. Check the permissions, or choose another file"
    if code == sqlite3.SQLITE_IOERR:
        return f"reading or writing the store {path} failed: {error}. The disk may be full or gone"
    return f"the store {path} failed: {error}"
