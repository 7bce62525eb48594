"""Read data files that people bring: CSV, TSV, text, Excel, Parquet, ARFF, NPZ and LIBSVM.

Everything that can be wrong with a file raises `FileProblem` with one sentence for the person who chose it. Nothing is
unpickled or executed, and sizes are checked before memory is filled.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from supdr.datasets import _arff, _binary, _delimited, _excel
from supdr.datasets._facts import ColumnFacts, facts_of
from supdr.datasets._tables import Table, choose_target, guess_column_task, to_dataset
from supdr.datasets.dataset import TASKS, Dataset
from supdr.datasets.limits import FileProblem, Limits, reason_of, shown
from supdr.engine.optional import PackageMissing, require

WORKBOOK = ".xlsx"
READERS: dict[str, Callable[..., Table]] = {
    ".csv": _delimited.read_csv,
    ".tsv": _delimited.read_tsv,
    ".txt": _delimited.read_csv,
    ".data": _delimited.read_csv,
    ".dat": _delimited.read_csv,
    WORKBOOK: _excel.read_excel,
    ".parquet": _binary.read_parquet,
    ".arff": _arff.read_arff,
    ".npz": _binary.read_npz,
    ".libsvm": _binary.read_libsvm,
}
EXTENSIONS = tuple(READERS)
TEXTS = (".csv", ".tsv", ".txt", ".data", ".dat", ".arff", ".libsvm")
# How a file begins -> what it holds, and the endings of such files.
MAGIC = {
    b"PAR1": ("Parquet", (".parquet",)),
    b"PK\x03\x04": ("ZIP, Excel or NPZ", (".npz", WORKBOOK)),
    b"\x1f\x8b": ("gzip", ()),
    b"\x93NUMPY": ("NPY", ()),
    b"\xd0\xcf\x11\xe0": ("old or protected Excel", ()),
}

PREVIEW_ROWS = 5
LONGEST_NAME = 80
DEFAULT_LIMITS = Limits()


def read_file(
    path_or_bytes: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    target: str | None = None,
    task: str | None = None,
    ignore: Sequence[str] = (),
    groups: Mapping[str, Sequence[str]] | None = None,
    sheet: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Dataset:
    """Read a data file.

    The ending of the name tells the format: .csv, .tsv, .txt, .data, .dat, .xlsx, .parquet, .arff, .npz or .libsvm,
    each also with .gz. Text separated by commas, semicolons, tabs, bars or spaces may have decimal commas, may lack a
    header or have a second one with units, and may be UTF-8, UTF-16 or Latin-1. A sheet of a workbook is read as such
    text. Titles and remarks around the table are left out, and rows without any value. Numbers may have signs and one
    unit; words that differ in capitals only are read as one. An NPZ file holds one table or several views and the
    targets `y`. If all features are called `view:feature`, they are grouped into views.

    Numbers stay as they are, dates become days since 1970, yes/no becomes 0/1, text of two levels becomes one 0/1
    column and text of up to 20 levels one 0/1 column per level; other columns are left out. Missing cells become NaN,
    and a missing target an unlabelled row. The description says what was done.

    Parameters
    ----------
    path_or_bytes : str, path or bytes
        Where the file is, or its content as bytes. A str is always a path: encode text that is the content.
    name : str, optional
        Name of the file with its ending; needed if the content is given.
    target : str, optional
        Column to predict. Default: the one the format marks, else one called target, class, label, y, outcome,
        response, diagnosis, species, survived or churn, else the last, or, if that holds fractions, the only
        column that holds classes.
    task : {"classification", "regression"}, optional
        Default: classification for text, for at most 20 distinct whole numbers, and for more of them in a column that
        is called a class, label, category or cluster; else regression.
    ignore : sequence of str
        Columns to leave out: ids and whatever else says nothing of the target; see `Preview.facts`.
    groups : mapping of str to sequence of str, optional
        Name of a view -> its columns; those that are in none form a view of their own. Default: by the columns' names.
    sheet : str, optional
        Of a workbook. Default: the first that is not empty.
    limits : Limits
        Sizes beyond which the file is refused.

    Returns
    -------
    Dataset

    Raises
    ------
    FileProblem
        If the file cannot be used; the message is one sentence that names the column, row or line.
    PackageMissing
        Without pandas, pyarrow (Parquet) or python-calamine (Excel); the message says what to install.
    """
    look = preview(path_or_bytes, name, sheet=sheet, limits=limits)
    return look.read(target=target, task=task, ignore=ignore, groups=groups)


@dataclass(frozen=True, eq=False)
class Preview:
    """A look at a file before it is read.

    Attributes
    ----------
    name : str
        Name of the file.
    format : str
        How it was read, in words.
    n_rows : int
        Rows, without the header.
    columns : tuple of str
        Names of the columns, targets included.
    facts : tuple of ColumnFacts
        What each column holds, and whether it had better be left out.
    rows : tuple of tuple of str
        The first five rows; missing cells are empty.
    target, task : str
        Suggested target column and task.
    notes : tuple of str
        What the reader found remarkable, in sentences.
    sheets : tuple of str
        Of a workbook: the names of all its sheets.
    sheet : str
        The one that was read.
    """

    name: str
    format: str
    n_rows: int
    columns: tuple[str, ...]
    facts: tuple[ColumnFacts, ...]
    rows: tuple[tuple[str, ...], ...]
    target: str
    task: str
    notes: tuple[str, ...]
    table: Table = field(repr=False)
    limits: Limits = field(repr=False)
    sheets: tuple[str, ...] = ()
    sheet: str = ""

    def task_of(self, target: str) -> str:
        """Suggest the task for another target column.

        Parameters
        ----------
        target : str
            Name of the column.

        Returns
        -------
        {"classification", "regression"}

        Raises
        ------
        FileProblem
            If there is no such column.
        """
        return guess_column_task(self.table.frame[choose_target(self.table, target)])

    def suggested(self, target: str) -> tuple[str, ...]:
        """Name the columns that had better be left out.

        Parameters
        ----------
        target : str
            The column that is to be predicted.

        Returns
        -------
        tuple of str
        """
        return tuple(each.name for each in self.facts if each.against and each.name != target)

    def read(
        self,
        *,
        target: str | None = None,
        task: str | None = None,
        ignore: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
    ) -> Dataset:
        """Make the data set without parsing the file again.

        Parameters
        ----------
        target, task, ignore, groups : optional
            As in `read_file`.

        Returns
        -------
        Dataset

        Raises
        ------
        FileProblem
            If the columns cannot be used.
        """
        if task not in (None, *TASKS):
            raise ValueError(f"task must be 'classification' or 'regression', got {task!r}")
        with _plainly(self.name):
            return to_dataset(
                self.table,
                name=_stem(self.name),
                target=target,
                task=task,
                ignore=ignore,
                groups=groups,
                limits=self.limits,
            )


def preview(
    path_or_bytes: str | os.PathLike[str] | bytes,
    name: str | None = None,
    *,
    sheet: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Preview:
    """Parse a file and describe its columns; `Preview.read` then makes the data set.

    Parameters
    ----------
    path_or_bytes, name, sheet, limits
        As in `read_file`.

    Returns
    -------
    Preview

    Raises
    ------
    FileProblem
        If the file cannot be parsed.
    PackageMissing
        Without pandas, pyarrow (Parquet) or python-calamine (Excel); the message says what to install.
    """
    require("Reading a file", "pandas", extra="files")
    data, name = _content(path_or_bytes, name, limits)
    with _plainly(name):
        table = _parse(data, name, limits, sheet)
        target = choose_target(table, None)
        frame = table.frame
        head = frame.head(PREVIEW_ROWS).astype(object)
        return Preview(
            name=name,
            format=table.format,
            n_rows=len(frame),
            columns=tuple(str(column) for column in frame.columns),
            facts=tuple(facts_of(column, str(name)) for name, column in frame.items()),
            rows=tuple(tuple(str(cell) for cell in row) for row in head.where(head.notna(), "").to_numpy()),
            target=target,
            task=guess_column_task(frame[target]),
            notes=table.notes,
            table=table,
            limits=limits,
            sheets=table.sheets,
            sheet=table.sheet,
        )


@contextmanager
def _plainly(name: str) -> Iterator[None]:
    """Turn what a parsing library may still raise into one sentence; our own sentences pass."""
    try:
        yield
    except (FileProblem, PackageMissing):
        raise
    except MemoryError as error:
        raise FileProblem(f"{name} does not fit into memory.") from error
    except Exception as error:
        raise FileProblem(f"{name} could not be read: {reason_of(error)}.") from error


def _content(path_or_bytes: str | os.PathLike[str] | bytes, name: str | None, limits: Limits) -> tuple[bytes, str]:
    """Give the bytes of a file and its name."""
    if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
        if name is None:
            raise ValueError("name is needed with bytes: its ending tells the format")
        limits.check_bytes(name, len(path_or_bytes))
        return bytes(path_or_bytes), _short(Path(name).name)
    path = Path(path_or_bytes)
    try:
        about = path.stat()
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            # reading a device or a pipe may never come to an end
            raise FileProblem(f"'{path}' is not a file on disk.")
        limits.check_bytes(path.name, about.st_size)
        with path.open("rb") as file:
            data = file.read(int(limits.max_bytes) + 1)
        limits.check_bytes(path.name, len(data))
        return data, _short(Path(name or path).name)
    except FileProblem:
        raise
    except FileNotFoundError:
        raise FileProblem(f"There is no file '{path}'.") from None
    except OSError as error:
        raise FileProblem(f"'{path}' cannot be opened: {error.strerror or error}.") from None
    except ValueError as error:
        raise FileProblem(f"{shown(path)} cannot be the name of a file: {reason_of(error)}.") from None


def _short(name: str) -> str:
    """Leave out the middle of a long name, so that it fits into a sentence; the ending stays."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2]}…{name[-LONGEST_NAME // 2 + 1 :]}"


def _parse(data: bytes, name: str, limits: Limits, sheet: str | None) -> Table:
    if not data:
        raise FileProblem(f"{name} is empty.")
    plain = name
    if name.lower().endswith(".gz"):
        plain = name[:-3]
        data = _unpack(data, name, limits)
    ending = Path(plain).suffix.lower()
    reader = READERS.get(ending)
    if reader is None:
        what = f"ends in {shown(ending)}" if ending else "has no ending"
        raise FileProblem(f"{name} {what}; accepted are {', '.join(EXTENSIONS)}, also with .gz.")
    content, endings = next((known for magic, known in MAGIC.items() if data.startswith(magic)), ("", ()))
    if content and ending not in endings:
        raise FileProblem(f"{name} is called {ending} but holds {content} data.")
    if ending in TEXTS:
        limits.check_text(name, data)
    if sheet is not None and ending != WORKBOOK:
        raise FileProblem(f"{name} has no sheets: only a workbook ({WORKBOOK}) does.")
    return reader(data, name, limits) if sheet is None else reader(data, name, limits, sheet)


def _unpack(data: bytes, name: str, limits: Limits) -> bytes:
    """Decompress gzip, stopping as soon as the result is too large."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(int(limits.max_unpacked_bytes) + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise FileProblem(f"{name} is not a complete gzip file.") from None
    limits.check_unpacked(name, len(unpacked))
    if not unpacked:
        raise FileProblem(f"{name} is empty.")
    return unpacked


def _stem(name: str) -> str:
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem
