"""Controls of the data: which source, its knobs, files and OpenML; and how the rows are split."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn

from supdr.datasets import Dataset
from supdr_viz.controls.forms import RESTARTS, Form, NumberField, make_knob
from supdr_viz.controls.openml import OpenMLPanel
from supdr_viz.controls.part import Change, Part
from supdr_viz.controls.rows_panel import RowsPanel
from supdr_viz.controls.upload import UploadPanel
from supdr_viz.data.rows_on_disk import offered
from supdr_viz.data.sources import SOURCES
from supdr_viz.experiment.settings import SPLIT_FIELDS, SPLIT_FORM, Settings
from supdr_viz.ui import widgets
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.lazy import Fold
from supdr_viz.ui.visitor import Visit


class DataControls(Part):
    """Source of the data and its knobs.

    `file_button`: leads to a file of one's own. `table`: what was loaded from a file or from OpenML, if the settings
    are about it; None if it has yet to be loaded. `form`: the knobs of the source, if it has any.
    """

    def __init__(self, visit: Visit, settings: Settings) -> None:
        super().__init__()
        self._on_loaded: list[Change] = []
        self._visit, self._settings = visit, settings
        self._at_hand = visit.files.newest_of(visit.visitor, self)  # the page that holds it may be gone soon
        self._loaded: dict[str, tuple[Dataset, dict[str, Any]]] = {}
        self._source = ""
        self.form: Form | None = None
        self._upload: UploadPanel | None = None
        self._openml: OpenMLPanel | None = None
        self._rows: RowsPanel | None = None
        self.menu = widgets.select("Data set", _menu(settings), settings.data)
        self._menu = Bound(self.menu, self._chosen)
        self._body = pn.Column(margin=0, **widgets.WIDE)
        self._dialogs: Any = None
        self.file_button = widgets.button(
            "Open a file …", self.open_file, icon="upload_file", margin=(2, 8, 6, 8), **widgets.WIDE
        )
        self.view = pn.Column(
            widgets.section("Data", f"{RESTARTS} restarts the run"), self.menu, self._body, margin=0, **widgets.WIDE
        )
        self._show_source(settings.data)

    @property
    def table(self) -> Dataset | None:
        """The loaded data set that the settings speak of, None if it has yet to be loaded."""
        dataset, options = self._loaded.get(self._settings.data, (None, {}))
        return dataset if options == self._settings.data_options else None

    @property
    def tables(self) -> dict[str, Dataset]:
        """What was loaded so far, by the name of its source."""
        return {name: dataset for name, (dataset, _) in self._loaded.items()}

    def on_loaded(self, callback: Change) -> None:
        """Call ``callback(fields)`` after the user loaded a table; it may be another one of the same name."""
        self._on_loaded.append(callback)

    def apply(self, settings: Settings) -> None:
        """Show these settings without reporting them."""
        self._settings = settings
        self._menu.show(settings.data)
        if settings.data != self._source:
            self._show_source(settings.data)
        elif self.form is not None:
            self.form.show(settings.data_options)
        else:
            self._expect()

    def _expect(self) -> None:
        """Name the data that shared settings want and that are not at hand."""
        panels = {"file": self._upload, "openml": self._openml, "rows": self._rows}
        panel: Any = panels.get(self._settings.data)
        if panel is not None and self.table is None:
            panel.expect(self._settings.data_options)

    def loaded_fields(self, rows: int, columns: int) -> dict[str, Any] | None:
        """Find a loaded data set of this size: the fields of the settings that speak of it, or None."""
        for name, (dataset, options) in self._loaded.items():
            if dataset.X.shape == (rows, columns):
                return {"data": name, "data_options": options, "drawn": ()}
        return None

    def _chosen(self, name: str) -> None:
        if SOURCES[name].at_hand:
            self._report({"data": name, "data_options": _carried(self._settings, name), "drawn": ()})
        elif name in self._loaded:
            self._report({"data": name, "data_options": self._loaded[name][1], "drawn": ()})
        else:
            if name == "file":
                self.open_file()
            self._show_source(name)  # the settings change once something is loaded

    def open_file(self) -> None:
        """Open the dialog in which a file is chosen and looked at; the settings change once it is used."""
        self._make_upload().open()
        self._place_dialog()

    def show_dialogs_in(self, place: Any) -> None:
        """Put dialogs into this layout of the page, outside of its sidebar."""
        self._dialogs = place
        if self._upload is not None:
            self._place_dialog()

    def _place_dialog(self) -> None:
        """Put the dialog into the page, as it is: the browser may miss what changes while it makes it."""
        dialog = self._make_upload().dialog
        if self._dialogs is not None and dialog not in self._dialogs.objects:
            self._dialogs.append(dialog)

    def _make_upload(self) -> UploadPanel:
        if self._upload is None:
            self._upload = UploadPanel(self._visit, partial(self._arrived, "file"), self._at_hand)
        return self._upload

    def _show_source(self, name: str) -> None:
        """Show the form of the source that the settings name, or how to load data from one that they do not."""
        self._source = name
        self.form = None
        if name == "file":
            panel = self._make_upload()
            self._expect()  # before the browser makes the widgets: it may miss a change that comes meanwhile
            self._body[:] = [panel.view]
            self._place_dialog()
        elif name == "openml":
            self._openml = self._openml or OpenMLPanel(self._visit.background.run, partial(self._arrived, "openml"))
            self._expect()
            self._body[:] = [self._openml.view]
        elif name == "rows":
            self._rows = self._rows or RowsPanel(self._visit.background.run, partial(self._arrived, "rows"))
            self._body[:] = [self._rows.view]
            pn.state.onload(self._expect)
        elif SOURCES[name].form:
            changed = partial(self._knob_changed, name)
            self.form = Form(SOURCES[name].form, self._settings.data_options, changed, lambda _name: True)
            self._body[:] = [self.form.view]
        else:
            self._body[:] = []

    def _knob_changed(self, source: str, name: str, value: Any) -> None:
        if source == self._settings.data:  # not a knob of a form that has just been replaced
            self._report({"data_options": {**self._settings.data_options, name: value}})

    def _arrived(self, name: str, dataset: Dataset, options: dict[str, Any]) -> None:
        options = {**{spec.name: spec.default for spec in SOURCES[name].form}, **options}
        self._loaded[name] = (dataset, options)
        for callback in self._on_loaded:
            callback({"data": name, "data_options": options, "drawn": ()})


def _menu(settings: Settings) -> dict[str, dict[str, str]]:
    """Return heading -> text -> name of the sources; of rows on disk where there are some, or a link names them."""
    shown, menu = bool(offered()) or settings.data == "rows", dict[str, dict[str, str]]()
    for source in SOURCES.values():
        if source.name != "rows" or shown:
            menu.setdefault(source.group, {})[source.label] = source.name
    return menu


def _carried(settings: Settings, name: str) -> dict[str, Any]:
    """Options of another source: what the user set stays where the knob is the same."""
    if SOURCES[settings.data].loader != SOURCES[name].loader:
        return {}
    return dict(settings.data_options)


class SplitControls(Part):
    """Test share, share of labels and the one seed, folded away."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self.knobs: dict[str, Bound | NumberField] = {}
        self.fold = Fold("Test rows, labels, seed", self._build)
        self.view = self.fold.view

    def apply(self, settings: Settings) -> None:
        """Show these settings without reporting them."""
        self._settings = settings
        for name, knob in self.knobs.items():
            knob.show(getattr(settings, SPLIT_FIELDS[name]))

    def _build(self) -> list[Any]:
        for spec in SPLIT_FORM:
            make: Callable[..., Bound | NumberField] = NumberField if spec.name == "seed" else make_knob
            self.knobs[spec.name] = make(spec, getattr(self._settings, SPLIT_FIELDS[spec.name]), self._changed, True)
        help = " ".join(spec.help for spec in SPLIT_FORM)
        return [*(knob.widget for knob in self.knobs.values()), widgets.caption(help)]

    def _changed(self, name: str, value: Any) -> None:
        self._report({SPLIT_FIELDS[name]: value})
