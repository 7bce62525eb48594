"""Read data files that people bring: separated text, Excel, Parquet, ARFF, NPZ, LIBSVM, AnnData, folders of images.

Everything that can be wrong with a file raises `FileProblem` with one sentence for the person who chose it. Nothing is
unpickled or executed, and sizes are checked before memory is filled.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from supdr.datasets import _anndata, _arff, _binary, _excel, _folders, _text
from supdr.datasets._facts import ColumnFacts, facts_of
from supdr.datasets._tables import TARGET_NAMES, Table, choose_target, guess_column_task, to_dataset
from supdr.datasets.dataset import TASKS, Dataset
from supdr.datasets.limits import FileProblem, Limits, check_bytes, check_text, check_unpacked, reason_of, shown
from supdr.datasets.proposals import MISSING, Proposal, Rules
from supdr.engine.optional import PackageMissing, require

if TYPE_CHECKING:
    import pandas

WORKBOOK = ".xlsx"
READERS: dict[str, Callable[..., Table]] = {
    ".csv": _text.read_csv,
    ".tsv": partial(_text.read_csv, delimiter="\t"),
    ".txt": _text.read_csv,
    ".data": _text.read_csv,
    ".dat": _text.read_csv,
    WORKBOOK: _excel.read_excel,
    ".parquet": _binary.read_parquet,
    ".arff": _arff.read_arff,
    ".npz": _binary.read_npz,
    ".libsvm": _binary.read_libsvm,
    ".tab": partial(_text.read_csv, delimiter="\t"),
    ".h5ad": _anndata.read_h5ad,
}
ARCHIVE = ".zip"
EXTENSIONS = (*READERS, ARCHIVE)
SEVERAL = (WORKBOOK, ".npz", ".h5ad", ARCHIVE)  # may hold several tables
SEPARATED = (".csv", ".tsv", ".txt", ".data", ".dat", ".tab")
TEXTS = (*SEPARATED, ".arff", ".libsvm")
# How a file begins -> what it holds, and the endings of such files.
MAGIC = {
    b"PAR1": ("Parquet data", (".parquet",)),
    b"PK\x03\x04": ("ZIP, Excel or NPZ data", (".npz", WORKBOOK, ARCHIVE)),
    b"\x89HDF": ("HDF5 data", (".h5ad",)),
    b"\x1f\x8b": ("gzip data", ()),
    b"\x93NUMPY": ("NPY data", ()),
    b"\xd0\xcf\x11\xe0": ("old or protected Excel data", ()),
    b"<!doctype": ("HTML data", ()),
    b"<html": ("HTML data", ()),
    b"<?xml": ("XML data", ()),
    b"[{": ("JSON data", ()),
    b'{"': ("JSON data", ()),
    b"version https://git-lfs": ("a pointer of Git LFS to the data", ()),
}

CELL = re.compile(r" holds '(.*?)(?:\.\.\.)?' in row ")  # that a problem quotes

PREVIEW_ROWS = 5
MOST_SHOWN = 200  # characters of a cell
LONGEST_NAME = 80
DEFAULT_LIMITS = Limits()


def read_file(
    path_or_bytes: str | os.PathLike[str] | bytes,
    *,
    name: str | None = None,
    target: str | None = None,
    task: str | None = None,
    ignore: Sequence[str] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    sheet: str | None = None,
    missing: Sequence[str] = MISSING,
    accept: Sequence[str] = (),
    decline: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Dataset:
    """Read a data file.

    The ending of the name tells the format: .csv, .tsv, .tab, .txt, .data, .dat, .xlsx, .parquet, .arff, .npz, .libsvm
    or .h5ad, each optionally gzipped. A folder or .zip holds images, the folders of which are their classes, or a
    table, or .npy arrays and a table of the same rows: each array is a view, and the table describes the rows. Text is
    separated by commas, semicolons, tabs, bars or spaces, with or without a header, in UTF-8, UTF-16 or Latin-1; a
    sheet of a workbook is read as such text. A column of text is numbers if pandas reads every cell as one, dates if
    every cell is one, else text, and different texts stay different values. What else the cells may mean (units,
    decimal commas, thousands, limits, spellings, totals) is a `Proposal`, named in the description with the number of
    cells. It is in force only where it makes no two texts one value and leaves out no row; `accept` and `decline`
    change that. Parquet, ARFF, NPZ, LIBSVM and AnnData have types of their own, which are kept.

    Numbers stay as they are, dates become days since 1970, yes/no becomes 0/1, text of two levels becomes one 0/1
    column and text of up to 20 levels one 0/1 column per level, also beside the numbers that it stands among; other
    columns are left out. `Dataset.metadata` has the columns that are left out, and text as it is written. Missing
    cells become NaN, and a missing target an unlabelled row. Classes are called as they are written. All features that
    are called
    `view:feature` are grouped into views, and so are the arrays of an NPZ file.

    Parameters
    ----------
    path_or_bytes : str, path or bytes
        Where the file or the folder is, or a file's content as bytes. A str is always a path: encode text that is the
        content.
    name : str, optional
        Name of the file with its ending; needed if the content is given.
    target : str, optional
        Column to predict. Default: the one the format marks, else one called target, class, label, y, outcome,
        response, diagnosis, species, survived or churn, else the last, or, if that holds fractions, the only
        column that holds classes.
    task : {"classification", "regression"}, optional
        Default: classification for text, and for two or at most 20 distinct whole numbers that occur twice each on
        average; in a column that is called a class, label, category or cluster, also for those that occur once, and for
        more of them; else regression.
    ignore : sequence of str, optional
        Columns to leave out: ids and whatever else says nothing of the target; see `Preview.facts`. Default: those that
        describe rows, as obs of AnnData and a table beside arrays do.
    groups : mapping of str to sequence of str, optional
        Name of a view -> its columns; those that are in none form a view of their own. Default: by the columns' names.
    sheet : str, optional
        Of a workbook, or the name of one of several tables: an array of an NPZ file, a file of a folder,
        "layers/counts" or "obsm/X_pca" of AnnData. Default: the first that is not empty.
    missing : sequence of str
        Texts that stand for a missing cell in separated text; "" also in Parquet and NPZ. Default: an empty cell, ?,
        NA, N/A, NaN, null and what spreadsheets write where a formula failed.
    accept, decline : sequence of str
        Keys of proposals, such as "totals" or "limits:x1"; see `Preview.proposals`.
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
        Without pandas, pyarrow (Parquet), python-calamine (Excel), h5py (AnnData) or Pillow (images); the message says
        what to install.
    """
    look = preview(path_or_bytes, name, sheet=sheet, missing=missing, accept=accept, decline=decline, limits=limits)
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
        The names of all sheets of a workbook, or of all tables of a file that holds several.
    sheet : str
        The one that was read.
    proposals : tuple of Proposal
        What the file may mean beyond what is written, in force or not.
    missing : tuple of str
        What stands for a missing cell, where the file is text.
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
    proposals: tuple[Proposal, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def target_is_named(self) -> bool:
        """Whether the format or a usual name says which column is the target, rather than its place."""
        return self.target == self.table.target or self.target.lower() in TARGET_NAMES

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
        ignore: Sequence[str] | None = None,
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
        options: dict[str, Any] = {"target": target, "task": task, "ignore": ignore, "groups": groups}
        try:
            with _plainly(self.name):
                return to_dataset(self.table, name=_stem(self.name), limits=self.limits, **options)
        except FileProblem as problem:
            column = self.target if target is None else target
            declined = [each for each in self.proposals if not each.accepted]
            helpful = [each for each in declined if each.column and _speaks_of(problem, each, column)]
            cell = CELL.search(str(problem))
            helpful += [each for each in declined if cell and cell[1] and not each.column and cell[1] in each.example]
            if not helpful:
                raise
            ways = " or ".join(f"{each.key!r} ({each.text.lower()}, {each.size})" for each in helpful)
            raise FileProblem(f"{problem} To accept {ways} may help.") from None


def _speaks_of(problem: FileProblem, each: Proposal, target: str) -> bool:
    return each.column == target or shown(each.column) in str(problem)


def preview(
    path_or_bytes: str | os.PathLike[str] | bytes,
    name: str | None = None,
    *,
    sheet: str | None = None,
    missing: Sequence[str] = MISSING,
    accept: Sequence[str] = (),
    decline: Sequence[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Preview:
    """Parse a file and describe its columns; `Preview.read` then makes the data set.

    Parameters
    ----------
    path_or_bytes, name, sheet, missing, accept, decline, limits
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
        rules = Rules(accept, decline, missing)
        table = _parse(data, name, limits, rules, sheet)
        rules.check()
        table = replace(table, notes=(*table.notes, *rules.notes()))
        target = choose_target(table, None)
        frame = table.frame
        return Preview(
            name=name,
            format=table.format,
            n_rows=len(frame),
            columns=tuple(str(column) for column in frame.columns),
            facts=tuple(_facts(column, str(name), table) for name, column in frame.items()),
            rows=_first_rows(frame if table.texts is None else table.texts),
            target=target,
            task=guess_column_task(frame[target]),
            notes=table.notes,
            table=table,
            limits=limits,
            sheets=table.sheets,
            sheet=table.sheet,
            proposals=tuple(rules.proposals),
            missing=rules.missing if table.texts is not None else (),
        )


def _facts(column: pandas.Series, name: str, table: Table) -> ColumnFacts:
    facts = facts_of(column, name)
    return replace(facts, against="describes rows") if name in table.annotations else facts


def _first_rows(frame: pandas.DataFrame) -> tuple[tuple[str, ...], ...]:
    head = frame.head(PREVIEW_ROWS).astype(object)
    return tuple(tuple(str(cell)[:MOST_SHOWN] for cell in row) for row in head.where(head.notna(), "").to_numpy())


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
        check_bytes(limits, name, len(path_or_bytes))
        return bytes(path_or_bytes), _short(Path(name).name)
    path = Path(path_or_bytes)
    try:
        about = path.stat()
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            # reading a device or a pipe may never come to an end
            raise FileProblem(f"'{path}' is not a file on disk.")
        if stat.S_ISDIR(about.st_mode):
            return _folders.packed(path, limits), _short(f"{Path(name or path).name}{ARCHIVE}")
        check_bytes(limits, path.name, about.st_size)
        with path.open("rb") as file:
            data = file.read(int(limits.max_bytes) + 1)
        check_bytes(limits, path.name, len(data))
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


def _parse(data: bytes, name: str, limits: Limits, rules: Rules, sheet: str | None) -> Table:
    if not data:
        raise FileProblem(f"{name} is empty.")
    plain = name
    if name.lower().endswith(".gz"):
        plain = name[:-3]
        data = _unpack(data, name, limits)
    ending = Path(plain).suffix.lower()
    if ending not in EXTENSIONS:
        what = f"ends in {shown(ending)}" if ending else "has no ending"
        raise FileProblem(f"{name} {what}; accepted are {', '.join(EXTENSIONS)}, optionally gzipped.")
    start = data[:200].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    content, endings = next((MAGIC[magic] for magic in MAGIC if start.startswith(magic.lower())), ("", ()))
    if content and ending not in endings:
        raise FileProblem(f"{name} is called {ending} but holds {content}.")
    if ending in TEXTS:
        check_text(limits, name, data)
    if sheet is not None and ending not in SEVERAL:
        raise FileProblem(f"{name} has no sheets: only a workbook ({WORKBOOK}) does, and {', '.join(SEVERAL[1:])}.")
    if ending == ARCHIVE:
        return _folders.read_zip(
            data, name, limits, sheet, tuple(READERS), lambda data, name: _parse(data, name, limits, rules, None)
        )
    if ending in SEPARATED and _arff.BEGINNING.match(data):
        return _arff.read_arff(data, name, limits, rules)  # as KEEL calls it
    libsvm = ending in SEPARATED and _binary.BEGINNING.match(data)
    reader = READERS[".libsvm" if libsvm else ending]
    return reader(data, name, limits, rules) if sheet is None else reader(data, name, limits, rules, sheet)


def _unpack(data: bytes, name: str, limits: Limits) -> bytes:
    """Decompress gzip, stopping as soon as the result is too large."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(int(limits.max_unpacked_bytes) + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise FileProblem(f"{name} is not a complete gzip file.") from None
    check_unpacked(limits, name, len(unpacked))
    if not unpacked:
        raise FileProblem(f"{name} is empty.")
    return unpacked


def _stem(name: str) -> str:
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem
