"""Share a link, copy the run as Python, save and load settings, save numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urljoin

import panel as pn

from supdr_viz.export.progress import Progress
from supdr_viz.export.work import RUN_KINDS
from supdr_viz.pages.class_link import ClassLink, for_others
from supdr_viz.pages.file_making import NOTHING, FileMaking, GetWork
from supdr_viz.ui import widgets
from supdr_viz.ui.bar import Bar, Button
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.dropper import file_dropper

# Characters of saved settings that are read: a comparison with drawn points has some ten thousand.
LARGEST_SETTINGS = 1_000_000

# Margin of buttons in a dialog: they begin below its fields.
BUTTONS = (2, 5, 12, 5)


class ShareMenu:
    """Three buttons of the header and their dialogs.

    Put `buttons` into the header and `dialogs` anywhere into the page; `drawer_row` is for windows too narrow for the
    header.

    get_link: returns a link to what is shown, relative to the page's address.
    get_python: returns the program that repeats the run.
    get_json: returns the settings as JSON.
    get_csv: ``get_csv("embedding")``, ``get_csv("losses")``, for a run ``get_csv("labels")`` and for comparisons
        ``get_csv("table")`` return CSV, or an empty text if there is nothing yet.
    on_load_json: ``on_load_json(text)`` applies saved settings and returns a list of sentences about what was wrong;
        without it there is no button Export.
    on_present: shows examples to an audience; without it there is no such button.
    get_short: returns a short link to the example that is shown; empty: none is.
    on_compare: adds what is shown to the comparison; without it there is no such button.
    get_work: ``get_work("report")`` returns a function that makes the file, for another thread, or None if there is
        nothing yet, see `GetWork`; without it there are no such buttons.
    plots: title -> name of the figures that can be saved as pictures.
    what: what is shared: "run", "comparison".
    class_link: by which others follow what is shown.
    """

    def __init__(
        self,
        bridge: Bridge,
        *,
        get_link: Callable[[], str],
        get_python: Callable[[], str],
        get_json: Callable[[], str] = lambda: "",
        get_csv: Callable[[str], str] = lambda _what: "",
        on_load_json: Callable[[str], list[str]] | None = None,
        on_compare: Callable[[], Any] | None = None,
        on_present: Callable[[], Any] | None = None,
        get_short: Callable[[], str] = lambda: "",
        get_work: Callable[[str], Callable[[Progress], bytes] | None] | None = None,
        plots: dict[str, str] | None = None,
        save_plot: Callable[[str, str], Any] | None = None,
        what: str = "run",
        class_link: ClassLink | None = None,
    ) -> None:
        self._class_link = class_link
        if class_link is not None:
            class_link.on_count(self.show_followers)
        self._plots, self._save_plot = plots or {}, save_plot
        self._on_compare, self._what = on_compare, what
        self._on_present, self._get_short = on_present, get_short
        self._works: dict[str, GetWork] = {}
        if get_work is not None:
            self._works = {kind: partial(get_work, kind) for kind in RUN_KINDS}
        self._bridge = bridge
        self._get_link, self._get_python, self._get_json = get_link, get_python, get_json
        self._get_csv, self._on_load_json = get_csv, on_load_json
        self._code = self._link = ""
        self._repeats = "The same data, split, method and steps through the library: the same numbers."
        self.dialogs = pn.Column(margin=0, width=0, height=0)
        self._built: dict[str, Any] = {}
        self._share_buttons: list[Button] = []

    def buttons(self) -> Bar:
        """Make the buttons of the header, which show in wide windows only."""
        return self._make_buttons(css_classes=["wide-only"], align="center")

    def _make_buttons(self, **options: Any) -> Bar:
        kinds = [("Share", "link", self.share), ("Python", "code", self.python), ("Export", "download", self.export)]
        if self._on_load_json is None:
            kinds.pop()
        if self._on_compare is not None:
            kinds.insert(0, ("Add to comparison", "add_chart", self._on_compare))
        if self._on_present is not None:
            kinds.insert(0, ("Present", "slideshow", self._on_present))
        buttons = {label: Button(label, act, icon=icon, look="text") for label, icon, act in kinds}
        self._share_buttons.append(buttons["Share"])
        return Bar(buttons, **options)

    def drawer_row(self) -> Bar:
        """Make the same buttons for the sidebar of a narrow window."""
        place: dict[str, Any] = {"margin": (4, 4, 0, 4), **widgets.WIDE}
        return self._make_buttons(**place, styles={"--push-margin": "2px"})

    def offer(self, kind: str, get_work: GetWork) -> None:
        """Offer one more file, before the dialog is opened for the first time.

        `kind`: of `KINDS`; `get_work`: returns a function that makes the file, for another thread, or None if there is
        nothing yet.
        """
        self._works[kind] = get_work

    def share(self) -> None:
        """Show the link and copy it."""
        self._link = urljoin(for_others(self._bridge), self._get_link())
        if not self._open_new("share", self._build_share):
            self._link_field.value = self._link
            self._show_short()
            self._built["share"].open = True

    def python(self) -> None:
        """Show the program that repeats the run."""
        self._code = self._get_python()
        if not self._open_new("python", self._build_python):
            self._code_pane.object = self._code_html()
            self._built["python"].open = True

    def export(self) -> None:
        """Offer what can be saved and loaded."""
        if not self._open_new("export", self._build_export):
            widgets.message(self._export_message)
            self._built["export"].open = True

    def _open_new(self, name: str, build: Callable[[], Any]) -> bool:
        """Build a dialog that does not exist yet; tell whether this was so.

        It is open from the start: the browser may miss a change that comes while it makes a new component.
        """
        if name in self._built:
            return False
        self._built[name] = build()
        self._built[name].open = True
        self.dialogs.append(self._built[name])
        return True

    def _code_html(self) -> str:
        return f'<pre tabindex="0" aria-label="Python code">{widgets.escape(self._code)}</pre>'

    def _show_short(self) -> None:
        short = self._get_short()
        self._short_field.param.update(
            value=urljoin(for_others(self._bridge), short) if short else "", visible=bool(short)
        )

    def _build_share(self) -> Any:
        self._link_field = widgets.text_field("Link", self._link)
        self._short_field = widgets.text_field("Short link to this example")
        self._show_short()
        return widgets.dialog(
            f"Share this {self._what}",
            widgets.caption(
                "The link holds every setting. Anyone who opens it on this server sees the same data, method and seed; "
                "a file of your own has to be chosen again."
            ),
            self._link_field,
            pn.Row(
                widgets.button(
                    "Copy link", lambda: self._copy(self._link, "Link"), icon="content_copy", kind="contained"
                ),
                margin=BUTTONS,
            ),
            self._short_field,
            *self._following(),
            width_option="sm",
        )

    def _following(self) -> list[Any]:
        link = self._class_link
        return link.build(self._copy) if link is not None and link.offered else []

    def show_followers(self, number: int) -> None:
        """Say on the buttons that lead to the link for students how many follow."""
        for each in self._share_buttons:
            each.label = f"Share · {number}" if number else "Share"

    def _build_python(self) -> Any:
        self._code_pane = widgets.html(self._code_html())
        return widgets.dialog(
            f"This {self._what} in Python",
            widgets.caption(self._repeats),
            self._code_pane,
            pn.Row(
                widgets.button("Copy", lambda: self._copy(self._code, "Code"), icon="content_copy", kind="contained"),
                widgets.button("Save as file", lambda: self._save("run.py", self._code, "text/x-python"), icon="save"),
                margin=BUTTONS,
            ),
        )

    def _build_export(self) -> Any:
        self._export_message = widgets.html()
        self._files = FileMaking(self._bridge, self._works, partial(widgets.message, self._export_message))
        self._dropper = file_dropper(
            self._bridge.visit.files,
            self._load,
            lambda why: widgets.message(self._export_message, why, "error"),
            max_bytes=1e6,
        )
        return widgets.dialog(
            "Export and import",
            widgets.caption("Settings, to be loaded again below, and numbers:"),
            widgets.flow(
                widgets.button("Settings (JSON)", self._save_json, icon="save"),
                widgets.button("Embedding (CSV)", lambda: self._save_csv("embedding"), icon="table_view"),
                widgets.button("Losses (CSV)", lambda: self._save_csv("losses"), icon="show_chart"),
                *self._more_exports(),
                margin=BUTTONS,
            ),
            *self._reports(),
            *self._pictures(),
            widgets.caption("Load settings that were saved as JSON:"),
            self._dropper,
            self._export_message,
            width_option="sm",
        )

    def _reports(self) -> list[Any]:
        """Offer the run as a page or a film, where it can be one."""
        buttons = self._files.buttons
        caption = widgets.caption("All iterations, to be replayed without a server:")
        return [caption, widgets.flow(*buttons, margin=BUTTONS), self._files.progress] if buttons else []

    def _more_exports(self) -> list[Any]:
        if self._what == "run":
            return [widgets.button("Labels (CSV)", lambda: self._save_csv("labels"), icon="label")]
        if self._works:
            return []
        return [widgets.button("Table (CSV)", lambda: self._save_csv("table"), icon="table_rows")]

    def _pictures(self) -> list[Any]:
        """Offer each plot as it stands on the page, in pixels or as a drawing."""
        if not self._plots:
            return []
        chosen = widgets.select("Plot", self._plots, next(iter(self._plots.values())), width=190, sizing_mode=None)

        def save(format: str) -> None:
            assert self._save_plot is not None
            self._save_plot(chosen.value, format)

        row = widgets.flow(
            chosen,
            widgets.button("PNG", lambda: save("png"), icon="image"),
            widgets.button("SVG", lambda: save("svg"), icon="polyline"),
            margin=0,
        )
        return [widgets.caption("Save a plot as a picture:"), row]

    def _copy(self, text: str, what: str) -> None:
        self._bridge.copy(text, lambda done: self._copied(done, what))

    def _copied(self, done: bool, what: str) -> None:
        if done:
            widgets.toast(f"{what} copied", "success", 2.5)
            self._bridge.announce(f"{what} copied")
        else:
            widgets.toast("The browser does not allow copying here: select the text and copy it.", "warning")

    def _save(self, name: str, text: str, mime: str) -> None:
        self._bridge.download(name, text, mime)

    def _save_json(self) -> None:
        self._save("supdr-settings.json", self._get_json(), "application/json")

    def _save_csv(self, what: str) -> None:
        text = self._get_csv(what)
        if text:
            self._save(f"supdr-{what}.csv", text, "text/csv")
        else:
            widgets.message(self._export_message, NOTHING, "warning")

    def _load(self, name: str, content: str | bytes) -> None:
        text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
        if len(text) > LARGEST_SETTINGS:
            widgets.message(self._export_message, f"{name} is too large to be settings that were saved here.", "error")
            return
        assert self._on_load_json is not None
        problems = self._on_load_json(text)
        if problems:
            widgets.message(self._export_message, " ".join(problems), "warning")
        else:
            widgets.message(self._export_message, f"Settings of {name} are in use.")
