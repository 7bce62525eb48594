"""Writes formulas as MathML, which browsers show by themselves: no script, no fonts, no network."""

from __future__ import annotations

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own; it scrolls where a page is too narrow for it."""
    writer.body.append(f'<div class="formula" tabindex="0">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Offer the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
