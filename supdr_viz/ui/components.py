"""The components of the UI kit that pages are made of; what they are made of is all that browsers are told."""

from __future__ import annotations

import panel_material_ui as pmui
from panel_material_ui.base import MaterialComponent

# With that of the kit's own notices, which no page names.
USED: frozenset[type[MaterialComponent]] = frozenset(
    {
        pmui.Accordion,
        pmui.Alert,
        pmui.Button,
        pmui.Dialog,
        pmui.FloatSlider,
        pmui.IntSlider,
        pmui.NotificationArea,
        pmui.Page,
        pmui.Select,
        pmui.Switch,
        pmui.TabMenu,
        pmui.TextAreaInput,
        pmui.TextInput,
    }
)
