"""Data of one's own: a file, with a look at it before it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from supdr.datasets import EXTENSIONS, ColumnFacts, Dataset, FileProblem, Limits, Preview, preview
from supdr.datasets.limits import listed
from supdr.datasets.proposals import MISSING, PROPOSED, UnknownProposal
from supdr_viz.controls.columns import LEAVE_OUT, TARGET, USE, ColumnTable
from supdr_viz.data.columns import (
    NO_NAMES,
    names_from_text,
    names_to_text,
    reading_options,
    views_from_text,
    views_to_text,
)
from supdr_viz.data.quotas import most
from supdr_viz.data.sample_tables import SAMPLES
from supdr_viz.data.sources import IMPUTE
from supdr_viz.ui import widgets
from supdr_viz.ui.background import Latest, Outcome
from supdr_viz.ui.binding import Bound
from supdr_viz.ui.bridge import TAKES_DROPS
from supdr_viz.ui.dropper import file_dropper
from supdr_viz.ui.lazy import Fold
from supdr_viz.ui.visitor import Visit, VisitorFile

# Rows, on average of its most frequent values, that make text a likely target.
FEWEST_OF_A_CLASS = 3

# Columns of numbers that words in front of them are about: as in spectra, and unlike in tables of measures.
MANY_NUMBERS = 20

TASKS = {"classification": "classification", "regression": "regression"}
MAX_SHOWN_COLUMNS = 30
# Pixels across of a choice beside others.
CHOICE = 158
# What is decided last stays in sight while the choices before it are scrolled.
FOOT = {
    "position": "sticky",
    "bottom": "0",
    "z-index": "2",
    "background": "var(--supdr-card)",
    "box-shadow": "0 10px var(--supdr-card)",
}
# Name of a table that was pasted, in links and saved settings.
PASTED = "pasted.csv"

# Widths of the dialog: with the columns of a file, and before.
FOR_COLUMNS, FOR_FILE = "lg", "sm"

# The formats that most files have.
KNOWN = {".csv": "CSV", ".xlsx": "Excel", ".parquet": "Parquet"}

# Called with a data set and the options that name it.
Loaded = Callable[[Dataset, dict[str, Any]], Any]


def limits() -> Limits:
    """Return how large data may be that a visitor brings."""
    return Limits(max_bytes=most("upload-mb") * 1e6, max_rows=most("rows"), max_cells=most("cells"))


def limits_text() -> str:
    """HTML that says which files are accepted, how large they may be, and what becomes of them."""
    largest = limits()
    others = ", ".join(ending for ending in EXTENSIONS if ending not in KNOWN)
    size = f"{largest.max_bytes / 1e6:g} MB, {largest.max_rows:,} rows and {largest.max_columns:,} columns"
    return (
        "<p>One row per case; one column is the class or the number to predict.</p>"
        f'<div class="quiet small"><p>{", ".join(KNOWN.values())} and {len(EXTENSIONS) - len(KNOWN)} more formats.</p>'
        "<p>The file is kept only in the memory of the computer that runs this app, and only until you close the app's "
        "pages.</p>"
        f"<details><summary>All formats and limits</summary><p>Endings: {', '.join(KNOWN)}, {others}; each also "
        f"gzipped. At most {size}.</p></details></div>"
    )


def preview_table(look: Preview) -> str:
    """HTML of the first rows, with what each column holds."""
    shown = look.columns[:MAX_SHOWN_COLUMNS]
    head = "".join(
        f'<th scope="col">{widgets.escape(name)}<span>{widgets.escape(kind)}</span></th>'
        for name, kind in zip(shown, (each.kind for each in look.facts))
    )
    body = "".join(
        f"<tr>{''.join(f'<td>{widgets.escape(cell)}</td>' for cell in row[: len(shown)])}</tr>" for row in look.rows
    )
    more = len(look.columns) - len(shown)
    rest = f'<p class="quiet small">and {more:,} more columns</p>' if more > 0 else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="First rows of the file">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{rest}"
    )


class UploadPanel:
    """Choose a file, look at it, choose the target, use it.

    `visit`: whose files these are. `on_loaded`: ``on_loaded(dataset, options)`` when the user presses "Use this file".
    `at_hand`: the file that the visitor has sent to another page; settings of it are used without a question. `look`:
    the file that is being looked at; `dialog`: where this happens; `view`: for the sidebar: which file is in use.
    """

    def __init__(self, visit: Visit, on_loaded: Loaded, at_hand: VisitorFile | None = None) -> None:
        self._visit, self._on_loaded, self._at_hand = visit, on_loaded, at_hand
        self._in_haste = False  # what is looked at is used as soon as it was read
        self.look: Preview | None = None
        self._content = b""
        self._linked: dict[str, Any] = {}
        self._guessed = ""
        self._rules: dict[str, bool] = {}  # key of a proposal -> what was decided, where it is not the default
        self._missing = ""
        # Columns that were left out and taken against what was proposed, while the file is read under other rules.
        self._differing: tuple[set[str], set[str]] | None = None
        self._latest = Latest(visit.background.run)
        self.dropper = file_dropper(
            visit.files, self.receive, self._refuse, max_bytes=limits().max_bytes, css_classes=[TAKES_DROPS]
        )
        self.message = widgets.html()
        self.table = widgets.html(visible=False)
        self.columns = ColumnTable(visible=False, margin=(4, 8), **widgets.WIDE)
        self.missing = pmui.TextAreaInput(
            label="Written for a missing cell",
            size="small",
            visible=False,
            margin=(6, 8),
            rows=1,
            auto_grow=True,
            **widgets.WIDE,
        )
        fillings = {label: value for value, label in IMPUTE.choices}
        self.sheet, self.target, self.task, self.impute = (
            widgets.select(label, options, value, visible=False, width=CHOICE, sizing_mode=None)
            for label, options, value in (
                ("Sheet", {"": ""}, ""),
                ("Target", {"": ""}, ""),
                ("Task", TASKS, "classification"),
                (IMPUTE.label, fillings, IMPUTE.default),
            )
        )
        self._sheet = Bound(self.sheet, self._sheet_chosen)
        self._roles = Bound(self.columns, self._roles_chosen, ("roles",))
        self._target = Bound(self.target, self._aim)
        self._decisions = Bound(self.columns, self._rules_chosen, ("rules",))
        self._markers = Bound(self.missing, self._missing_chosen)
        self._task, self._impute = Bound(self.task), Bound(self.impute)
        self.paste = Fold("Paste a table", self._build_paste)
        self.use = widgets.button("Use this file", self._use, kind="contained", visible=False, icon="check", margin=8)
        self.said = widgets.html()
        self.change = widgets.button("Change the columns", self._open_again, visible=False, icon="tune", margin=8)
        self.view = pn.Column(self.said, self.change, margin=0, **widgets.WIDE)
        self.limits = widgets.html(limits_text())
        self.foot = pn.Row(self.use, margin=0, visible=False, styles=FOOT, **widgets.WIDE)
        self.dialog = self._make_dialog()

    def _make_dialog(self) -> Any:
        return widgets.dialog(
            "Open a file",
            self.dropper,
            self.limits,
            self.message,
            widgets.flow(self.sheet, self.target, self.task, self.impute, margin=0),
            self.table,
            self.columns,
            self.missing,
            self._samples(),
            self.paste.view,
            self.foot,
            width_option=FOR_FILE,
        )

    def _samples(self) -> Any:
        """Make buttons with the file that is at hand, and with tables to try."""
        choices = {each.label: partial(self._try, name) for name, each in SAMPLES.items()}
        offers = [("Or open a sample table:", choices)]
        if self._at_hand is not None:
            again = partial(self.receive, self._at_hand.name, self._at_hand.content)
            offers.insert(0, ("Opened before:", {self._at_hand.name: again}))
        rows = []
        for words, acts in offers:
            buttons = [widgets.button(label, act) for label, act in acts.items()]
            rows += [widgets.caption(words, margin=(8, 8, 0, 8)), widgets.flow(*buttons, margin=(0, 5))]
        return pn.Column(*rows, margin=0, **widgets.WIDE)

    def _try(self, name: str) -> None:
        self.receive(name, SAMPLES[name].csv())

    def open(self) -> None:
        """Open the dialog."""
        self.dialog.open = True

    def expect(self, options: Mapping[str, Any]) -> None:
        """Ask for the file of shared settings: its target and task are chosen once it is there."""
        self._linked = dict(options)
        if self.look is None and self._at_hand is not None and options.get("name") == self._at_hand.name:
            self._in_haste = True
            pn.state.onload(partial(self.receive, self._at_hand.name, self._at_hand.content))
        elif self.look is None and options.get("name"):
            text = f"These settings use the file {options['name']}: "
            widgets.message(self.message, f"{text}choose it here.", "warning")
            widgets.message(self.said, f'{text}press "Open a file …".', "warning")

    def _build_paste(self) -> list[Any]:
        field = pmui.TextAreaInput(
            label="Rows, the first with names",
            rows=3,
            max_length=int(limits().max_bytes),
            size="small",
            margin=(6, 8),
            **widgets.WIDE,
        )
        look = widgets.button("Preview", lambda: self._pasted(field), icon="content_paste", margin=8)
        return [field, look]

    def _pasted(self, field: Any) -> None:
        text = field.value_input or field.value or ""
        if text.strip():
            self.receive(PASTED, text)
        else:
            widgets.message(self.message, "Paste the rows of a table into the field first.", "error")

    def receive(self, name: str, content: str | bytes) -> None:
        """Look at a file that the browser sent.

        `content`: text files come decoded.
        """
        self._content = b""
        data = content.encode("utf-8") if isinstance(content, str) else bytes(content)
        if refusal := self._visit.files.hold(self, VisitorFile(self._visit.visitor, name, data)):
            self._refuse(refusal)
            return
        self._content = data
        linked = self._linked if self._linked.get("name") == name else {}
        self._rules = dict.fromkeys(names_from_text(linked.get("accept", "")), True)
        self._rules |= dict.fromkeys(names_from_text(linked.get("decline", "")), False)
        self._missing = linked.get("missing", "")
        self._show(None)
        self._look_at(name, linked.get("sheet") or None)

    def _refuse(self, refusal: str) -> None:
        """Say why a file was not taken."""
        self._content = b""
        self._latest.drop()
        self.use.loading = False
        self._show(None)
        widgets.message(self.message, refusal, "error")

    def _look_at(self, name: str, sheet: str | None) -> None:
        self.use.loading = False
        widgets.message(self.message, f"Reading {name} …")
        rules = dict(self._rules)
        self._latest.ask(lambda: self._parsed(name, sheet, rules), widgets.guarded(self._previewed))

    def _parsed(self, name: str, sheet: str | None, rules: dict[str, bool]) -> Preview:
        """Read the file; what was decided about proposals that it does not make, under other rules, is forgotten."""
        chosen = reading_options({**_rules_to_text(rules), "missing": self._missing})
        try:
            return preview(self._content, name, sheet=sheet, limits=limits(), **chosen)
        except UnknownProposal as problem:
            usable = {key: value for key, value in rules.items() if key not in problem.keys}
            return self._parsed(name, sheet, usable)

    def _rules_chosen(self, rules: dict[str, bool]) -> None:
        """Read the file again under other rules."""
        self._rules |= rules
        self._look_again()

    def _missing_chosen(self, markers: str) -> None:
        text = names_to_text(names_from_text(markers))
        self._missing = "" if text == names_to_text(filter(None, MISSING)) else text or NO_NAMES
        self._look_again()

    def _look_again(self) -> None:
        """Read the file anew; what was chosen for its columns stays."""
        look = self.look
        if look is not None:
            self._linked = {**self._options(look), "target": self._target.value}
            proposed, left_out = set(look.suggested(self._target.value)), set(self._left_out(look))
            self._differing = left_out - proposed, proposed - left_out
            self._look_at(look.name, look.sheet or None)

    def _sheet_chosen(self, sheet: str) -> None:
        if self.look is not None and sheet != self.look.sheet:
            self._look_at(self.look.name, sheet)

    def _previewed(self, outcome: Outcome) -> None:
        in_haste, self._in_haste = self._in_haste, False
        if outcome.problem:
            widgets.message(self.message, outcome.problem, "error")
            self._differing = None
            self._show_rules()  # as they were
            return
        self._show(outcome.value, unfolds=not in_haste)
        if in_haste:
            self._use()

    def _show(self, look: Preview | None, *, unfolds: bool = True) -> None:
        self.look = look
        # Panel fails to show HTML again whose dialog was never open: a file that is used at once stays hidden.
        self._unfold(unfolds and look is not None)
        self.change.visible = False
        if look is None:
            return
        words = f"{look.name}: {look.n_rows:,} rows, {len(look.columns):,} columns ({look.format})."
        done = [each for each in look.notes if not each.startswith(PROPOSED)]
        asked = list(dict.fromkeys(each.column for each in look.proposals if not each.accepted))
        where = f"Please decide below on {listed(filter(None, asked))}." if any(asked) else ""
        widgets.message(self.message, " ".join(filter(None, [words, *done, where])))
        self.table.object = preview_table(look)
        fits = self._linked.get("name") == look.name and self._linked.get("sheet", "") in ("", look.sheet)
        target = self._linked.get("target") if fits else ""
        usual = look.target if fits and not target else likely_target(look)
        chosen = target if target in look.columns else usual
        # What settings of this file leave out is known; else it is proposed.
        ignore = names_from_text(self._linked.get("ignore", "")) if fits else list(look.suggested(chosen))
        if fits and self._differing is not None:
            left_out, in_use = self._differing
            ignore = [name for name in look.columns if name in {*look.suggested(chosen), *left_out} - in_use]
        self._differing = None
        groups = views_from_text(self._linked.get("groups", "")) if fits else {}
        self.sheet.label = "Sheet" if look.format.startswith("sheet ") else "Table"
        self._sheet.show(look.sheet, options={name: name for name in look.sheets} or {"": ""})
        self._target.show(chosen, options={name: name for name in look.columns})
        self._impute.show(self._linked.get("impute", IMPUTE.default) if fits else IMPUTE.default)
        self._roles.show(
            {**dict.fromkeys(ignore, LEAVE_OUT), chosen: TARGET},
            columns=[asdict(each) for each in look.facts],
            views={column: view for view, columns in groups.items() for column in columns},
        )
        self._show_rules()
        self._guess_task()
        if fits and self._linked.get("task") in TASKS.values():
            self._task.show(self._linked["task"])

    def _show_rules(self) -> None:
        """Show what the file that is looked at may mean beyond what is written, and what of it is in force."""
        look = self.look
        if look is None:
            return
        self._rules = {each.key: each.accepted for each in look.proposals if each.accepted is not each.default}
        self._missing = "" if look.missing in ((), MISSING) else names_to_text(filter(None, look.missing)) or NO_NAMES
        self._decisions.show({}, proposals=[])  # a switch that had no effect goes back
        self.columns.proposals = [
            {**asdict(each), "size": each.size, "otherwise": each.otherwise} for each in look.proposals
        ]
        self._markers.show(names_to_text(filter(None, look.missing)))

    def _unfold(self, open: bool) -> None:
        """Show or hide the preview and what belongs to it."""
        for part in (self.table, self.columns, self.target, self.task, self.foot, self.use):
            part.visible = open
        self.limits.visible = not open
        self.dialog.param.update(width_option=FOR_COLUMNS if open else FOR_FILE)
        self.impute.visible = open and self.look is not None and any(each.missing for each in self.look.facts)
        self.missing.visible = open and self.look is not None and bool(self.look.missing)
        self.sheet.visible = open and self.look is not None and len(self.look.sheets) > 1

    def _open_again(self) -> None:
        self._unfold(True)
        self.open()

    def _roles_chosen(self, roles: dict[str, str]) -> None:
        """Take the column that became the target; without one, the one before stays it."""
        others = [name for name, role in roles.items() if role == TARGET and name != self._target.value]
        self._aim((others or [self._target.value])[0])

    def _aim(self, target: str) -> None:
        """Predict this column, and no other."""
        roles = {name: USE if role == TARGET else role for name, role in self._roles.value.items()}
        self._target.show(target)
        self._roles.show({**roles, target: TARGET})
        self._guess_task()

    def _guess_task(self) -> None:
        """Choose the task that the target's values suggest."""
        if self.look is None:
            return
        try:
            self._guessed = self.look.task_of(self._target.value)
        except FileProblem as error:
            widgets.message(self.message, str(error), "error")
            return
        self._task.show(self._guessed)

    def _use(self) -> None:
        look = self.look
        if look is None:
            return
        options = self._options(look)
        chosen = reading_options(options)
        ignore, groups = chosen.get("ignore", ()), chosen.get("groups")
        target, task = self._target.value, self._task.value
        self.use.loading = True
        self._latest.ask(
            lambda: look.read(target=target, task=task, ignore=ignore, groups=groups),
            widgets.guarded(lambda outcome: self._read(outcome, options)),
        )

    def _left_out(self, look: Preview) -> list[str]:
        return [name for name in look.columns if self._roles.value.get(name) == LEAVE_OUT]

    def _options(self, look: Preview) -> dict[str, Any]:
        """Return the options that say what was chosen; what the library would choose by itself is left out."""
        target, task = self._target.value, self._task.value
        # Without a word the library leaves out columns that describe rows.
        none = NO_NAMES if look.table.annotations else ""
        roles = {name: self._roles.value.get(name, USE) for name in look.columns}
        views = {name: self.columns.views.get(name) or "" for name, role in roles.items() if role == USE}
        return {
            "name": look.name,
            "sheet": look.sheet if len(look.sheets) > 1 else "",
            "target": "" if target == look.target else target,
            "task": "auto" if task == self._guessed else task,
            "ignore": names_to_text(self._left_out(look)) or none,
            "groups": views_to_text({name: view.replace(":", " ") for name, view in views.items() if view}),
            "impute": self._impute.value,
            **_rules_to_text(self._rules),
            "missing": self._missing,
        }

    def _read(self, outcome: Outcome, options: dict[str, Any]) -> None:
        self.use.loading = False
        if outcome.problem:
            widgets.message(self.message, outcome.problem, "error")
            return
        dataset = outcome.value
        for place in (self.message, self.said):
            widgets.message(place, f"In use: {options['name']}.")
        self._unfold(False)
        self.change.visible = True
        self.dialog.open = False
        self._on_loaded(dataset, options)


def _rules_to_text(rules: Mapping[str, bool]) -> dict[str, str]:
    """Write what was decided about proposals as options."""
    accepted, declined = ([key for key, value in rules.items() if value is which] for which in (True, False))
    return {"accept": names_to_text(accepted), "decline": names_to_text(declined)}


def _names_classes(column: ColumnFacts) -> bool:
    """Whether a text of too many values for a feature may be a target: its values come up again and again."""
    times = (sum(column.histogram) / len(column.histogram)) if column.histogram else 0.0
    return column.kind == "text" and 1 < column.distinct <= limits().max_classes and times >= FEWEST_OF_A_CLASS


def likely_target(look: Preview) -> str:
    """Name the target that the library would choose; if that only stands last and cannot be one, the last that can.

    Where nothing speaks for that one but its place, words in front of many columns of numbers are what these are about.
    """
    able = [each for each in look.facts if not each.against or _names_classes(each)]
    if not able or look.target_is_named:
        return look.target
    first, *others = able
    chosen = look.target if any(each.name == look.target for each in able) else able[-1].name
    by_place = chosen == able[-1].name and look.task_of(chosen) == "regression"
    about = first.kind in ("text", "yes/no") and all(each.kind == "number" for each in others)
    return first.name if by_place and about and len(others) >= MANY_NUMBERS else chosen
