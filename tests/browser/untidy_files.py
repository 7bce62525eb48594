"""Twelve tables as people have them: as they are saved by hand, by a till, by a laboratory, by Excel."""

from __future__ import annotations

import csv
import io

import numpy as np

from tests.bad_input.workbooks import workbook

ROWS = 90


def signals(seed: int, columns: int, classes: int = 2, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of which the first two say which class a row is of, and the classes."""
    generator = np.random.default_rng(seed)
    kind = np.arange(rows) % classes
    generator.shuffle(kind)
    numbers = generator.normal(size=(rows, columns))
    numbers[:, 0] += 2.5 * kind
    numbers[:, 1] -= 2.0 * (kind % 2)
    return numbers, kind


def written(header: list[str], rows: list[list[object]], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def german(value: float, digits: int = 2) -> str:
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def orders() -> bytes:
    """An order number, a date, money with marks between thousands, per cent, a yes or no to be predicted."""
    numbers, kind = signals(0, 3)
    rows = [
        [
            f"A-{10_000 + k}",
            f"{1 + k % 12}/{1 + k % 28}/2024",
            f"${1500 + 400 * a:,.2f}",
            f"{20 + 3 * b:.1f} %",
            ("cash", "card", "invoice")[k % 3],
            ("no", "yes")[c],
        ]
        for k, ((a, b, _), c) in enumerate(zip(numbers, kind))
    ]
    return written(["Order no.", "Date", "Amount", "Discount", "Paid by", "Returned"], rows).encode()


def survey_of_households() -> bytes:
    """Semicolons, decimal commas, dots between thousands, umlauts in Latin-1."""
    numbers, kind = signals(1, 3)
    rows = [
        [
            f"{1 + k:03d}",
            german(42_000 + 9000 * a),
            german(31 + 5 * b, 1),
            ("Süd", "Nord")[k % 2],
            ("groß", "klein")[c],
        ]
        for k, ((a, b, _), c) in enumerate(zip(numbers, kind))
    ]
    return written(["Lfd. Nr.", "Einkommen", "Größe", "Gegend", "Haushalt"], rows, ";").encode("latin-1")


def clinic() -> bytes:
    """A patient's id, dates with dots, cells that are empty, "n.a." or a dash, a diagnosis."""
    numbers, kind = signals(2, 4, 3)
    holes = ("", "n.a.", "-")
    rows = [
        [f"P{k:04d}", f"{1 + k % 28:02d}.{1 + k % 12:02d}.2023"]
        + [holes[(k + j) % 3] if (k * 7 + j * 5) % 11 == 0 else f"{50 + 9 * value:.1f}" for j, value in enumerate(row)]
        + [("healthy", "cold", "flu")[c]]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["patient_id", "admitted", "temp", "pulse", "crp", "age", "diagnosis"], rows).encode()


def expression() -> bytes:
    """Two hundred columns, few rows, a sample's name in front."""
    numbers, kind = signals(3, 200, 3, 60)
    rows = [
        [f"sample_{k}", *(f"{value:.4f}" for value in row), ("ALL", "AML", "MLL")[c]]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["sample", *(f"gene_{j + 1}" for j in range(200)), "tumour"], rows).encode()


def report() -> bytes:
    """Titles above the header, an empty line, a column without a name, an empty line at the end."""
    numbers, kind = signals(4, 3)
    rows = [
        [k + 1, *(f"{value:.2f}" for value in row), ("pass", "fail")[c]]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    head = "Quality report, line 4\nPrinted 2024-03-01 08:12\n\n"
    return (head + written(["", "width", "height", "depth", "verdict"], rows) + "\n").encode()


def sensors() -> bytes:
    """A time stamp, three columns of the same name, a number to be predicted."""
    numbers, _ = signals(5, 3)
    rows = [
        [
            f"2024-05-{1 + k // 24:02d} {k % 24:02d}:00:00",
            *(f"{20 + value:.2f}" for value in row),
            f"{row[0] - row[1]:.3f}",
        ]
        for k, row in enumerate(numbers)
    ]
    return written(["time", "temp", "temp", "temp", "power"], rows).encode()


def two_sheets() -> bytes:
    """A workbook whose first sheet is words, and whose second is the table."""
    numbers, kind = signals(6, 3)
    table: list[list[object]] = [["No", "length", "mass", "girth", "sex"]]
    table += [[k, *map(float, row.round(2)), "fm"[c]] for k, (row, c) in enumerate(zip(numbers, kind))]
    return workbook(About=[["Measured by hand"], ["Do not change"]], Birds=table)


def towns() -> bytes:
    """Thirty classes written as text: towns around a lake."""
    numbers, kind = signals(7, 4, 30, 240)
    angle = 2 * np.pi * kind / 30
    numbers[:, 0] += 30 * np.cos(angle) - 2.5 * kind
    numbers[:, 1] += 30 * np.sin(angle)
    numbers[:, 2] += kind % 5 * 3
    rows = [[*(f"{value:.3f}" for value in row), f"Town {c + 1}"] for row, c in zip(numbers, kind)]
    return written(["north", "east", "height", "rain", "town"], rows).encode()


def questionnaire() -> bytes:
    """Answers in words, remarks in free text, and what is to be predicted in the first column."""
    generator = np.random.default_rng(8)
    answers = ("disagree", "neutral", "agree")
    kind = generator.integers(0, 2, ROWS)
    rows = []
    for k, c in enumerate(kind):
        given = [
            answers[int(np.clip(generator.integers(0, 2) + (c if j < 3 else generator.integers(0, 2)), 0, 2))]
            for j in range(6)
        ]
        rows.append([("stays", "leaves")[c], *given, f'I think, "{k}", that is all.'])
    return written(["outcome", *(f"Q{j + 1}" for j in range(6)), "remarks"], rows).encode()


def exported() -> bytes:
    """Written by pandas: numbered rows, a constant, an empty column, truth values, a class of one row."""
    numbers, kind = signals(9, 2)
    rows = [
        [k, "cm", "", str(bool(k % 2)), f"{a:.3f}", f"{b:.3f}", "odd" if k == 17 else ("red", "blue")[c]]
        for k, ((a, b), c) in enumerate(zip(numbers, kind))
    ]
    return written(["", "unit", "note", "checked", "a", "b", "label"], rows).encode()


def unicode_text() -> bytes:
    """Excel's "Unicode text": tabs, UTF-16."""
    numbers, kind = signals(10, 3)
    rows = [[f"{a:.2f}", f"{b:.2f}", f"{c:.2f}", ("да", "нет")[k]] for (a, b, c), k in zip(numbers, kind)]
    return written(["рост", "вес", "возраст", "ответ"], rows, "\t").encode("utf-16")


def flats() -> bytes:
    """Prices to be predicted: euros, spaces between thousands, decimal commas, a web address for each."""
    numbers, _ = signals(11, 3)
    rows = [
        [
            f"https://flats.example/{7000 + k}",
            german(70 + 9 * a, 1),
            1 + k % 5,
            ("yes", "no")[k % 2],
            f"{190_000 + 40_000 * a - 20_000 * b:,.2f} €".translate(str.maketrans(",.", " ,")),
        ]
        for k, (a, b, _) in enumerate(numbers)
    ]
    return written(["link", "m²", "rooms", "balcony", "price"], rows, ";").encode()


FILES = {
    "orders.csv": orders,
    "households.csv": survey_of_households,
    "clinic.csv": clinic,
    "expression.csv": expression,
    "report.csv": report,
    "sensors.csv": sensors,
    "birds.xlsx": two_sheets,
    "towns.csv": towns,
    "questionnaire.csv": questionnaire,
    "exported.csv": exported,
    "unicode.txt": unicode_text,
    "flats.csv": flats,
}
"""Name of a file -> who writes it."""
