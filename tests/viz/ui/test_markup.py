"""Strings of HTML: what comes from outside is escaped, symbols have their subscripts."""

import pytest

from supdr_viz.ui.markup import symbols, within_sentence


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("R × R_G", "R × R<sub>G</sub>"),
        ("√(λ_U λ_V)", "√(λ<sub>U</sub> λ<sub>V</sub>)"),
        ("−λ L_X: misfit", "−λ L<sub>X</sub>: misfit"),
        ("<b> & L_Y", "&lt;b&gt; &amp; L<sub>Y</sub>"),
        ("LR, BEL_AIR and λx", "LR, BEL_AIR and λx"),
    ],
)
def test_symbols_have_their_subscripts_and_other_words_none(text, html):
    assert symbols(text) == html


@pytest.mark.parametrize(
    ("label", "within"),
    [
        ("Ridge on latent rows", "ridge on latent rows"),
        ("Gaussian weight", "Gaussian weight"),
        ("SVM tolerance", "SVM tolerance"),
        ("C", "C"),
        ("λ", "λ"),
    ],
)
def test_labels_have_no_capital_within_a_sentence_but_names_and_symbols_keep_theirs(label, within):
    assert within_sentence(label) == within
