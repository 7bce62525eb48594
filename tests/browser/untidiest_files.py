"""Twelve more tables: what tills, laboratories, stations, banks and those who ask people hand on."""

from __future__ import annotations

import numpy as np

from tests.bad_input.workbooks import workbook
from tests.browser.untidy_files import german, signals, written


def till() -> bytes:
    """A line for Excel above the header, a currency before numbers, a unit behind them, Windows' own ends of lines."""
    numbers, kind = signals(40, 3)
    rows = [
        [
            f"EUR {german(1200 + 300 * a)}",
            f"{german(12 + b, 1)} kg",
            f"{1 + k % 28:02d}.05.2024 08:{k % 60:02d}",
            answer,
        ]
        for k, ((a, b, _), answer) in enumerate(zip(numbers, np.array(["ja", "nein"])[kind]))
    ]
    text = "sep=;\n" + written(["Umsatz", "Gewicht", "Zeit", "Käufer"], rows, ";")
    return text.replace("\n", "\r\n").encode("cp1252")


def laboratory() -> bytes:
    """Values below and above what can be measured, and one that a machine did not like."""
    numbers, kind = signals(41, 3)
    rows = [
        [
            f"S{k}",
            "<0.5" if k % 9 == 0 else f"{5 + a:.2f}",
            ">100" if k % 13 == 0 else f"{50 + 9 * b:.1f}",
            "clotted" if k == 11 else f"{d:.2f}",
            ("neg", "pos")[c],
        ]
        for k, ((a, b, d), c) in enumerate(zip(numbers, kind))
    ]
    return written(["sample", "crp", "il6", "ph", "result"], rows).encode()


def station() -> bytes:
    """Units in a row of their own, totals and a source at the end, UTF-8 with its mark."""
    numbers, kind = signals(42, 3)
    rows: list[list[object]] = [["hPa", "m/s", "°C", ""]]
    rows += [[f"{a:.2f}", f"{b:.2f}", f"{d:.2f}", ("no", "yes")[c]] for (a, b, d), c in zip(numbers, kind)]
    text = written(["pressure", "wind", "warmth", "storm"], [*rows, ["Mean", "", "", ""]])
    return (text + "\nSource: station 12, own figures\n").encode("utf-8-sig")


def cars() -> bytes:
    """Columns that spaces hold apart, as printed by a program of long ago."""
    numbers, kind = signals(43, 3)
    lines = [f"{a:8.2f} {b:8.2f} {d:8.2f}   {1 + c}" for (a, b, d), c in zip(numbers, kind)]
    return "\n".join(["     mpg   weight    accel origin", *lines, ""]).encode()


def plots() -> bytes:
    """Bars between cells, codes as classes in the first column, a class of two rows, rows that occur twice."""
    numbers, kind = signals(44, 4, 4)
    rows = [
        [990 if k in (3, 7) else 100 + 10 * c, k + 1, *map("{:.2f}".format, row)]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["land cover", "plot no", "ndvi", "red", "nir", "swir"], rows + rows[:25], "|").encode()


def alarms() -> bytes:
    """Time stamps of two zones, times of a day, months in words, places called x and y, truth values in capitals."""
    numbers, kind = signals(45, 2)
    rows = [
        [
            f"2024-03-{1 + k % 28:02d}T{k % 24:02d}:15:00{('Z', '+01:00')[k % 2]}",
            f"{k % 24:02d}:{k % 60:02d}",
            f"Mar {1 + k % 28}, 2024",
            *map("{:.3f}".format, row),
            str(bool(c)).upper(),
        ]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["timestamp", "clock", "day", "x", "y", "alarm"], rows).encode()


def answers() -> bytes:
    """Yes, no and nothing in several ways, a grade that ends with "5+", ages with their unit, a formula that failed."""
    numbers, kind = signals(46, 3)
    rows = [
        [
            k + 1,
            ("yes", "no", "NA", "")[k % 4],
            ("Y", "N", "unknown", "?")[k % 4],
            ("1", "2", "3", "4", "5+")[int(np.clip(round(2 + a), 0, 4))],
            "#DIV/0!" if k % 10 == 0 else f"{b:.2f}",
            f"{int(40 + 9 * d)} years",
            "NULL" if k % 8 == 0 else c,
        ]
        for k, ((a, b, d), c) in enumerate(zip(numbers, kind))
    ]
    names = ["Respondent ID", "smokes", "drinks", "health", "ratio", "Age", "would recommend"]
    return written(names, rows).encode()


def bank() -> bytes:
    """Apostrophes between thousands, francs."""
    numbers, kind = signals(47, 2)
    rows = [
        [f"{250_000 + 9000 * a:,.2f}".replace(",", "'"), f"CHF {50 + b:.2f}", ("ja", "nein")[c]]
        for (a, b), c in zip(numbers, kind)
    ]
    return written(["Betrag", "Gebühr", "Kredit"], rows, ";").encode("utf-8-sig")


def harvest() -> bytes:
    """A workbook with a title, and two rows of names, the first of which were cells over several columns."""
    numbers, kind = signals(48, 3)
    table: list[list[object]] = [["Harvest of 2024", *[""] * 4]]
    table += [["Probe", "Klima", "", "Ernte", "Sorte"], ["", "Wärme", "Regen", "t/ha", ""]]
    table += [
        [f"P{k}", *map(float, row.round(2)), ("früh", "spät")[c]] for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return workbook(Tabelle1=table)


def compras() -> bytes:
    """Decimal commas in quotation marks, commas between cells."""
    numbers, kind = signals(49, 3)
    rows = [[*(f"{value:.2f}".replace(".", ",") for value in row), ("sí", "no")[c]] for row, c in zip(numbers, kind)]
    return written(["renta", "gasto", "saldo", "compra"], rows).encode()


def census() -> bytes:
    """Whole questions as names of columns, with line breaks, and whole sentences as answers."""
    numbers, kind = signals(50, 3)
    said = "A person who has, within the last twelve months, been treated for what section 4 of the form describes "
    rows = [
        [*map("{:.2f}".format, row), said + ("and was cured", "and was not cured, or does not know")[c]]
        for row, c in zip(numbers, kind)
    ]
    tall = "How tall are you, in centimetres, measured without shoes, in the morning?\n(cm)"
    return written([tall, "b", "c", "Which of the following\ndescribes you best?"], rows).encode("utf-8-sig")


def members() -> bytes:
    """Names, addresses, telephone numbers; a label for one row in three; a delimiter at the end of every row, tabs."""
    numbers, kind = signals(51, 4, rows=150)
    rows = [
        [
            f"{('Anna', 'Björn')[k % 2]} {k}",
            f"user{k}@example.org",
            f"+49 30 {100_000 + k}",
            *map("{:.2f}".format, row),
            ("gone", "active")[c] if k % 3 == 0 else "",
            "",
        ]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    names = ["Name", "E-Mail", "Phone", "logins", "spend", "calls", "age", "flag", ""]
    return written(names, rows, "\t").encode("cp1252")


FILES = {
    "till.csv": till,
    "laboratory.csv": laboratory,
    "station.csv": station,
    "cars.data": cars,
    "plots.txt": plots,
    "alarms.csv": alarms,
    "answers.csv": answers,
    "bank.csv": bank,
    "harvest.xlsx": harvest,
    "compras.csv": compras,
    "census.csv": census,
    "members.csv": members,
}
"""Name of a file -> who writes it."""
