"""Compare how files are read with what pandas, SciPy and NumPy read, cell by cell.

    python benchmarks/readers.py FOLDER

Every file below the folder that `supdr.datasets` reads is read twice. A difference is told where a note of the file
speaks of it: a proposal for that column, or one about rows or columns; else it is silent. A file that is refused is
told by its sentence. The last line counts them; the program ends with 1 if a difference is silent.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from supdr.datasets import EXTENSIONS, FileProblem, Preview, preview

MOST_SHOWN = 5  # differences of one file that are printed
SEPARATORS = {"commas": ",", "semicolons": ";", "tabs": "\t", "bars": "|", "spaces": r"\s+"}
# Rules that say which lines are rows, and which columns are columns.
OF_ROWS = {
    "titles",
    "footnotes",
    "dashes",
    "totals",
    "repeated header",
    "second header",
    "types",
    "empty rows",
    "header",
    "merged",
}
OF_COLUMNS = {"no name", "aside"}


class Difference(NamedTuple):
    """What two readings do not agree on; `told`: whether a note of the file speaks of it."""

    what: str
    told: bool


def by_others(path: Path, look: Preview) -> pd.DataFrame:
    """Read a file without this library, but for the delimiter and the header that it has found."""
    ending = Path(path.stem if path.suffix == ".gz" else path.name).suffix.lower()
    if ending == ".parquet":
        frame = pd.read_parquet(path)
        return _wide(frame.reset_index(drop=isinstance(frame.index, pd.RangeIndex)))
    if ending == ".xlsx":
        return _below_names(pd.read_excel(path, sheet_name=look.sheet, engine="calamine", header=None))
    if look.format == "ARFF":
        return pd.DataFrame(arff.loadarff(path)[0]).replace(b"?", np.nan)  # SciPy leaves this as a level
    if ending == ".npz":
        with np.load(path) as arrays:
            names = (
                [look.sheet, look.target] if look.sheet else [each for each in arrays.files if each != "feature_names"]
            )
            return pd.concat([pd.DataFrame(arrays[name]) for name in names], axis=1)
    if ending == ".libsvm":
        X, y, queries = load_svmlight_file(str(path), query_id=True)
        return pd.DataFrame(np.column_stack([X.toarray(), *([queries] if len(queries) else []), y]))
    if look.format.endswith("width"):
        return pd.read_fwf(path, infer_nrows=look.n_rows, keep_default_na=False, na_values=list(look.missing))
    return pd.read_csv(
        path,
        sep=SEPARATORS[look.format.rpartition(" ")[2]],
        header=None if "no header" in " ".join(look.notes) else "infer",
        keep_default_na=False,
        na_values=list(look.missing),
        skipinitialspace=True,
        escapechar="\\" if "backslashes" in {each.key for each in look.proposals} else None,
        # What rows have beyond the header is their name only where that is left out.
        index_col=None
        if any("column 1" in each.example for each in look.proposals if each.key == "no name")
        else False,
        encoding=_encoding(path, look),
        encoding_errors="replace",
        low_memory=False,
    )


def _encoding(path: Path, look: Preview) -> str:
    """Take the encoding that a proposal names; tell UTF-16 by its mark, or by the zero beside the first letter."""
    named = [each.text.rpartition("(")[2].rstrip(")") for each in look.proposals if each.key == "encoding"]
    if named:
        return named[0]
    start = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    return "utf-16-be" if start[:1] == b"\0" else "utf-16-le" if start[1:] == b"\0" else "utf-8"


def _below_names(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a sheet, below empty ones and the first that is not."""
    cells = cells[cells.notna().any(axis=1).cummax()].dropna(how="all", axis=1)
    return cells.iloc[1:].set_axis(cells.iloc[0].astype(str), axis=1).reset_index(drop=True)


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """Split columns of lists."""
    columns = {}
    for name, column in frame.items():
        if column.map(lambda cell: isinstance(cell, (list, np.ndarray))).all():
            columns |= {f"{name}:{j + 1}": part for j, part in enumerate(np.stack(column.to_numpy()).T)}
        else:
            columns[str(name)] = column
    return pd.DataFrame(columns)


def differences(look: Preview, theirs: pd.DataFrame) -> list[Difference]:
    """Return what the two readings of a file differ in."""
    frame, texts, rules = look.table.frame, look.table.texts, {each.key for each in look.proposals}
    if len(theirs) != len(frame):
        return [Difference(f"{len(frame):,} rows here, {len(theirs):,} there", bool(rules & OF_ROWS))]
    found = []
    if theirs.shape[1] != frame.shape[1]:
        what = f"{frame.shape[1]:,} columns here, {theirs.shape[1]:,} there"
        found.append(Difference(what, bool(rules & OF_COLUMNS)))
    names = [str(name).strip() for name in theirs.columns]
    for j, name in enumerate(frame.columns):
        if name not in names and theirs.shape[1] != frame.shape[1]:
            found.append(Difference(f"there is no column {name} there", bool(rules & OF_COLUMNS)))
            continue
        other = theirs.iloc[:, names.index(name) if name in names else j]
        # Dates are days here and text there: what is written is compared.
        ours = frame[name] if texts is None or frame[name].dtype.kind == "f" else texts[name]
        differing = _differing(ours, other)
        if differing.any():
            row = int(differing.argmax())
            cells = f"row {row + 1} is {ours.iloc[row]!r} here, {other.iloc[row]!r} there"
            empty = other[differing].map(_text).eq("").all() and any(
                "Read as missing: ''" in note for note in look.notes
            )
            bytes_told = other[differing].map(_text).str.contains("\ufffd").all() and "Latin-1" in " ".join(look.notes)
            of_column = empty or bytes_told or any(key.endswith(f":{name}") for key in rules)
            # A column above which a line was left out, or not, is of another type there.
            shifted = {each.key for each in look.proposals if each.accepted} & (OF_ROWS - {"header"})
            found.append(Difference(f"{differing.sum():,} cells of {name}: {cells}", of_column or bool(shifted)))
    return found


def _differing(ours: pd.Series, theirs: pd.Series) -> np.ndarray:
    """Tell cells that say different things: numbers by value, all else by text."""
    missing = ours.isna().to_numpy(), theirs.isna().to_numpy()
    texts = [column.map(_text).to_numpy(dtype=object) for column in (ours, theirs)]
    numbers = [pd.to_numeric(pd.Series(each), errors="coerce").to_numpy(dtype=float) for each in texts]
    return (missing[0] != missing[1]) | ~(missing[0] | (numbers[0] == numbers[1]) | (texts[0] == texts[1]))


def _text(cell: object) -> str:
    text = cell.decode("latin-1") if isinstance(cell, bytes) else str(cell)
    text = text.capitalize() if text in ("TRUE", "FALSE", "true", "false") else text
    return " ".join(text.removesuffix(" 00:00:00").split())


def compare(path: Path) -> str:
    """Read one file twice, print what differs, and return what came of it in a word."""
    try:
        look = preview(path)
    except FileProblem as problem:
        print(f"{path}: refused: {problem}")
        return "refused"
    try:
        theirs = by_others(path, look)
    except Exception as error:  # whatever another reader raises
        print(f"{path}: read here only: {type(error).__name__}: {str(error)[:100]}")
        return "read here only"
    found = sorted(differences(look, theirs), key=lambda each: each.told)
    for each in found[:MOST_SHOWN]:
        print(f"{path}: {'told' if each.told else 'SILENT'}: {each.what}")
    if len(found) > MOST_SHOWN:
        print(f"{path}: and {len(found) - MOST_SHOWN:,} more")
    return "equal" if not found else "told" if found[0].told else "silent"


def main() -> int:
    """Compare all files of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    endings = (*EXTENSIONS, *(f"{ending}.gz" for ending in EXTENSIONS))
    counts = Counter(compare(path) for path in sorted(folder.rglob("*")) if path.name.lower().endswith(endings))
    print(
        ", ".join(f"{count} {word}" for word, count in counts.most_common()) or f"{folder} holds no file that is read"
    )
    return int(counts["silent"] > 0)


if __name__ == "__main__":
    sys.exit(main())
