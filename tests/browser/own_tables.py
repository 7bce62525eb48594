"""All tables as people have them, and what had better be predicted from each."""

import numpy as np

from tests.browser import untidier_files, untidiest_files, untidy_files

FILES = {**untidy_files.FILES, **untidier_files.FILES, **untidiest_files.FILES}

TARGETS = {
    "orders.csv": "Returned",
    "households.csv": "Haushalt",
    "clinic.csv": "diagnosis",
    "expression.csv": "tumour",
    "report.csv": "verdict",
    "sensors.csv": "power",
    "birds.xlsx": "sex",
    "towns.csv": "town",
    "questionnaire.csv": "outcome",
    "exported.csv": "label",
    "unicode.txt": "ответ",
    "flats.csv": "price",
    "wages.csv": "Gekündigt",
    "visits.csv": "satisfied",
    "tumours.csv": "diagnosis",
    "passengers.csv": "Survived",
    "ledger.csv": "Customer",
    "logger.csv": "fault",
    "spectra.tsv": "Sorte",
    "rooms.csv": "room class",
    "herbarium.csv": "Art",
    "survey.xlsx": "Group",
    "till.csv": "Käufer",
    "laboratory.csv": "result",
    "station.csv": "storm",
    "cars.data": "origin",
    "plots.txt": "land cover",
    "alarms.csv": "alarm",
    "answers.csv": "would recommend",
    "bank.csv": "Kredit",
    "harvest.xlsx": "Sorte",
    "compras.csv": "compra",
    "census.csv": "Which of the following\ndescribes you best?",
    "members.csv": "flag",
}
"""Name of a file -> the column that had better be predicted."""

SPELLING = {"visits.csv": "satisfied"}
"""Name of a file -> the column that is written in several ways, which a person has read as one."""

BIRDS = "\n".join(
    ["species,bill,wing,mass"]
    + [
        f"{('auk', 'gull')[k % 2]},{b:.2f},{w:.2f},{m:.2f}"
        for k, (b, w, m) in enumerate(np.random.default_rng(0).normal(size=(80, 3)) + np.arange(80)[:, None] % 2 * 4)
    ]
)
"""A tidy one, of two species."""
