"""A link by which others follow a run: they see the same frames, and can change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

import panel as pn

from supdr_viz.pages.follow import FOLLOW
from supdr_viz.ui import widgets
from supdr_viz.ui.bridge import Bridge
from supdr_viz.ui.page_thread import Call, call_in_page
from supdr_viz.views.stage.followers import Followers
from supdr_viz.views.stage.stage import Stage

OPEN, END = "Open a link for students", "End the link for students"

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")

HERE_ONLY = (
    "Only this computer can open the link: the server listens for no other. "
    "Start it with supdr-viz --address 0.0.0.0 to let others in its network open it."
)

WHY = (
    "Anyone with this link can watch your run live for as long as this page is open. They cannot change it, but can "
    "open a copy with the same settings. No password is needed."
)


class ClassLink:
    """Opens and ends the link, and says how many follow.

    `stage`: what is followed; `on_open`: called once others can follow, who need to be told what the page shows.
    `followers`: those who follow; None while there is no link.
    """

    def __init__(self, bridge: Bridge, stage: Stage, *, on_open: Callable[[], Any]) -> None:
        self._bridge, self._stage, self._on_open = bridge, stage, on_open
        self._on_count: Callable[[int], Any] | None = None
        self.followers: Followers | None = None
        self._built = False
        self._call: Call | None = None
        self._scheduled = False

    def on_count(self, callback: Callable[[int], Any]) -> None:
        """Call ``callback(n)`` whenever the number of followers changes."""
        self._on_count = callback

    @property
    def offered(self) -> bool:
        """Whether this server can be followed."""
        return self._bridge.visit.tickets.offered

    def build(self, copy: Callable[[str, str], Any]) -> list[Any]:
        """Make the part of a dialog.

        `copy`: ``copy(text, what)`` copies a text.
        """
        self._field = widgets.text_field("Link for students", "", visible=False)
        self._message, self._reach = widgets.html(), widgets.html()
        # One button for both: the one that has the focus must not vanish.
        self._switch = widgets.button(OPEN, self._switched, icon="cast_for_education")
        self._copy = widgets.button(
            "Copy link for students",
            lambda: copy(self.address, "Link for students"),
            icon="content_copy",
            visible=False,
        )
        self._built = True
        self._show(self.followers is not None)
        buttons = widgets.flow(self._switch, self._copy, margin=(0, 5))
        return [
            widgets.section("Follow this run"),
            widgets.caption(WHY),
            self._field,
            self._reach,
            self._message,
            buttons,
        ]

    @property
    def address(self) -> str:
        """The link; empty while there is none."""
        if self.followers is None:
            return ""
        return urljoin(for_others(self._bridge), f"{FOLLOW}?{urlencode({'ticket': self.followers.ticket})}")

    @property
    def warning(self) -> str:
        """What the visitor should know of the link before it is handed on; empty: nothing."""
        return HERE_ONLY if _is_local(urlsplit(self.address).netloc) else ""

    def _switched(self) -> None:
        if self.followers is None:
            self.open()
        else:
            self.end()

    def open(self) -> None:
        """Let others follow from now on."""
        document = pn.state.curdoc
        assert document is not None
        self._call = call_in_page(document)
        self.followers = Followers(self._stage, self._bridge.visit.tickets, self._counted)
        self._on_open()
        self._show(True)
        self._say()

    def end(self) -> None:
        """End the link: no browser can follow any more."""
        self.close()
        self._show(False)
        widgets.message(self._message, "The link for students has ended.")
        self._tell(0)

    def close(self) -> None:
        """End it without a word: the page is going."""
        followers, self.followers = self.followers, None
        if followers is not None:
            followers.end()

    def _show(self, open: bool) -> None:
        if not self._built:
            return
        self._field.value = self.address
        widgets.message(self._reach, self.warning, "warning")
        for part in (self._field, self._copy):
            part.visible = open
        self._switch.param.update(label=END if open else OPEN, icon="stop" if open else "cast_for_education")

    def _counted(self) -> None:
        """Say soon how many follow: a class comes all at once."""
        if self._call is not None and not self._scheduled:
            self._scheduled = True
            self._call(self._say)

    def _say(self) -> None:
        self._scheduled = False
        if self.followers is not None:
            number = len(self.followers)
            words = {0: "No one is watching yet.", 1: "One person is watching."}.get(
                number, f"{number} people are watching."
            )
            if self._built:
                widgets.message(self._message, words)
            self._tell(number)

    def _tell(self, number: int) -> None:
        if self._on_count is not None:
            self._on_count(number)


def for_others(bridge: Bridge) -> str:
    """Return the address of a page as browsers on other machines reach it, as far as that is known."""
    page = urlsplit(bridge.origin)
    others = [each for each in bridge.visit.tickets.names if each.endswith(f":{page.port}") and not _is_local(each)]
    return urlunsplit(page._replace(netloc=others[0])) if others and _is_local(page.netloc) else bridge.origin


def _is_local(host: str) -> bool:
    """Whether a host, with its port or without, is every browser's own machine."""
    return urlsplit(f"//{host}").hostname in LOCAL_NAMES
