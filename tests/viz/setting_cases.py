"""Settings that tests read and try."""

from urllib.parse import parse_qs

from supdr_viz.experiment.methods import MENU
from supdr_viz.experiment.settings import parse_query


def read(query):
    return parse_query({name: [value.encode() for value in values] for name, values in parse_qs(query).items()})


def suited(method):
    """A small data set that the method can learn."""
    if MENU[method].bits_only:
        return "digits_bits"
    return "iris" if "classification" in MENU[method].tasks() else "diabetes"
