"""Links from the HTML representation of an estimator to its page of the documentation.

scikit-learn reads three attributes of an estimator, ``_doc_link_module``, ``_doc_link_template`` and
``_doc_link_url_param_generator``.  The address is the one that pyproject.toml declares under "Documentation".
"""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, metadata


@functools.cache
def documentation_address() -> str:
    """Return the address of the documentation, with "/" at its end; "" where the distribution is not installed."""
    try:
        entries = metadata("supdr-viz").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    addresses = dict(entry.split(", ", 1) for entry in entries)
    return addresses["Documentation"].rstrip("/") + "/" if "Documentation" in addresses else ""


def link_template(_estimator: object) -> str:
    """Return the address of a page with the name of its class in braces; "", which is no link, without an address."""
    address = documentation_address()
    return address and f"{address}_autosummary/{{public_name}}.html"


def link_parameters(estimator: object) -> dict[str, str]:
    """Return the name under which users import the class of an estimator."""
    kind = type(estimator)
    package = "supdr.baselines" if kind.__module__.startswith("supdr.baselines.") else "supdr"
    return {"public_name": f"{package}.{kind.__name__}"}
