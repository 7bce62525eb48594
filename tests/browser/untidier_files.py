"""Ten tables that are worse: exported by machines with their own ideas, and filled in by several hands."""

from __future__ import annotations

from tests.bad_input.workbooks import workbook
from tests.browser.untidy_files import german, signals, written


def wages() -> bytes:
    """German Windows: semicolons, decimal commas, euros behind numbers, a delimiter at the end of every row."""
    numbers, kind = signals(20, 3)
    rows = [
        [
            f"MA{k:05d}",
            f"{german(3200 + 500 * a)} €",
            f"{german(38 + 2 * b, 1)} %",
            f"{1 + k % 28:02d}.{1 + k % 12:02d}.{k % 25:02d}",
            ("Köln", "München")[k % 2],
            ("ja", "nein")[c],
            "",
        ]
        for k, ((a, b, _), c) in enumerate(zip(numbers, kind))
    ]
    names = ["Personal-Nr.", "Gehalt", "Anteil", "Eintritt", "Ort", "Gekündigt"]
    return written(names, rows, ";").encode("cp1252")  # the header has no last delimiter


def visits() -> bytes:
    """Dates in three formats, one column of which mixes two; the answer was typed by several hands."""
    numbers, kind = signals(21, 3)
    answers = (("no", "No", "NO", "no "), ("yes", "Yes", "YES", " yes"))
    rows = [
        [
            k + 1,
            f"{1 + k % 12}/{1 + k % 28}/2024",
            f"{1 + k % 28:02d}.{1 + k % 12:02d}.2023",
            f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" if k % 2 else f"{1 + k % 28} Mar 2024",
            *(f"{value:.3f}" for value in row),
            answers[c][k % 4],
        ]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["id", "booked", "born", "came", "weight", "height", "age", "satisfied"], rows).encode()


def tumours() -> bytes:
    """The id first, then what is to be predicted, then thirty numbers, as in a well-known table of a hospital."""
    numbers, kind = signals(22, 30)
    rows = [
        [842_000 + 37 * k, "BM"[c], *(f"{value:.4f}" for value in row)] for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["id", "diagnosis", *(f"feature {j}" for j in range(30))], rows).encode()


def passengers() -> bytes:
    """What is to be predicted in the middle; truth values, names, cells without a value."""
    numbers, kind = signals(23, 2)
    rows = [
        [
            k + 1,
            c,
            1 + k % 3,
            f'Smith, "Jo" {k}',
            ("male", "female")[(k + c) % 2],
            "" if k % 7 == 0 else f"{30 + 5 * a:.1f}",
            str(bool((k // 2) % 2)).upper(),
            f"{30 + 10 * b:.2f}",
            ("S", "C", "Q", "")[k % 4],
        ]
        for k, ((a, b), c) in enumerate(zip(numbers, kind))
    ]
    names = ["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "Alone", "Fare", "Embarked"]
    return written(names, rows).encode()


def ledger() -> bytes:
    """Saved from a sheet that was once larger: columns and rows of nothing but delimiters at its end."""
    numbers, kind = signals(24, 3)
    rows = [
        [f"{1_250_000 + 90_000 * a:,.0f}", f"{12 + 2 * b:.1f}%", f"({abs(d):.2f})", ("kept", "lost")[c], "", "", ""]
        for (a, b, d), c in zip(numbers, kind)
    ]
    rows += [[""] * 7] * 12
    return written(["Turnover", "Margin", "Loss", "Customer", "", "", ""], rows).encode()


def logger() -> bytes:
    """A device's remarks above the header, each with the delimiter in it; the header is a remark itself."""
    numbers, kind = signals(25, 4)
    rows = [[f"{value:.5f}" for value in row] + [c] for row, c in zip(numbers, kind)]
    head = "# logger 7, firmware 2.1, range 10 V, site B, 2024\n# channels: 4, rate: 50 Hz, gain: 2, filter: on, ok\n"
    return (head + written(["# u1", "u2", "u3", "u4", "fault"], rows)).encode()


def spectra() -> bytes:
    """Two hundred columns called by numbers, some constant or empty, tabs, UTF-16."""
    numbers, kind = signals(26, 200, 3, 75)
    rows: list[list[object]] = []
    for k, (row, c) in enumerate(zip(numbers, kind)):
        cells: list[object] = [f"{value:.4f}" for value in row]
        cells[50], cells[100], cells[150] = "0", "", "n/a"
        rows.append([("Öl", "Süßstoff", "Käse")[c], *cells, f"Probe {k}"])
    return written(["Sorte", *(str(900 + 5 * j) for j in range(200)), "Probe"], rows, "\t").encode("utf-16")


def rooms() -> bytes:
    """Forty classes called by numbers, and two columns of one name."""
    numbers, kind = signals(27, 5, 40, 320)
    rows = [[*(f"{value:.3f}" for value in row), f"{c + 1}"] for row, c in zip(numbers, kind)]
    return written(["wifi", "wifi", "wifi", "light", "noise", "room class"], rows).encode()


def herbarium() -> bytes:
    """A class of one row each, but for two; umlauts in Latin-1."""
    numbers, kind = signals(28, 3)
    rare = {5: "Frauenmantel", 18: "Hühnerdarm", 40: "Löwenzahn"}
    rows = [
        [k + 1, *(f"{value:.2f}" for value in row), rare.get(k, ("Gänseblümchen", "Schlüsselblume")[c])]
        for k, (row, c) in enumerate(zip(numbers, kind))
    ]
    return written(["Nr", "Länge", "Breite", "Höhe", "Art"], rows).encode("latin-1")


def survey() -> bytes:
    """A workbook with titles, dates, truth values, a constant, totals of nothing and an empty column in the middle."""
    numbers, kind = signals(29, 3)
    table: list[list[object]] = [["Survey 2024", *[""] * 7], [""] * 8]
    table.append(["No.", "Year", "a", "", "b", "c", "Member", "Group"])
    spelt = (("control", "Control"), ("treated", "TREATED"))
    for k, (row, c) in enumerate(zip(numbers, kind)):
        a, b, d = map(float, row.round(3))
        table.append([k + 1, 2024, a, "", b, d, bool(k % 2), spelt[c][k % 5 == 0]])
    table += [[""] * 8] * 3
    return workbook(Data=table)


FILES = {
    "wages.csv": wages,
    "visits.csv": visits,
    "tumours.csv": tumours,
    "passengers.csv": passengers,
    "ledger.csv": ledger,
    "logger.csv": logger,
    "spectra.tsv": spectra,
    "rooms.csv": rooms,
    "herbarium.csv": herbarium,
    "survey.xlsx": survey,
}
"""Name of a file -> who writes it."""
