"""Writes formulas as MathML, which browsers show by themselves: no script, no fonts, no network."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|.", flags=re.DOTALL)
OPEN, CLOSE = {"{", "(", "[", r"\left", r"\begin"}, {"}", ")", "]", r"\right", r"\end"}
SPACES, OPERATORS = {r"\quad", r"\qquad"}, {"+", "-", "=", r"\le", r"\propto"}
BIG = {r"\sum"}


def inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own; where a page is too narrow for it, it goes on in the next line."""
    parts = (convert(part).replace('display="inline"', 'display="inline" displaystyle="true"') for part in lines(node))
    writer.body.append(f'<div class="formula" tabindex="0">{"<wbr>".join(parts)}</div>')
    raise nodes.SkipNode


def lines(node: nodes.math_block) -> list[str]:
    """Return the parts of a formula between which a line may end: browsers break within none.

    A part ends before an operator, a sum or a wide space that stands in no bracket, environment, norm or index.
    """
    parts, part, depth, before = [], "", 0, ""
    in_norm = False
    for token in TOKEN.findall(node.astext().strip()):
        outside = depth == 0 and not in_norm and before not in ("_", "^")
        begun = part.strip().removeprefix("{}").strip() not in OPERATORS | {""}
        if outside and begun and token in SPACES | OPERATORS | BIG:
            parts.append(part)
            part = "{} " if token in OPERATORS else r"\quad " if token in SPACES else ""
        if token not in SPACES:
            part += token
        depth += (token in OPEN) - (token in CLOSE)
        in_norm ^= token == r"\|" and depth == 0
        before = token if token.strip() else before
    return [*parts, part]


def setup(app: Sphinx) -> None:
    """Offer the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
