"""What lessons, notes of examples and pages say of the papers' experiments is what docs/results/reproduce.csv holds."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from supdr_viz.lessons import LESSONS
from supdr_viz.papers.command import items
from supdr_viz.papers.report import MISSED
from supdr_viz.presets.catalogue import PRESETS
from tests.viz.papers.quoted_results import ELSEWHERE, QUOTES, LeftOut, Of, Quote, read_results

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "docs" / "results"

COUNTS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
WORDS = {**{word: float(k) for k, word in enumerate(COUNTS)}, "twice": 2.0, "third": 1 / 3, "quarter": 1 / 4}
NUMBER = rf"([-−]?[\d,]*\.?\d+|(?i:\b(?:{'|'.join(WORDS)})\b))"

# What a sentence cannot say without having it from somewhere: a decimal number, or a share in per cent.
MEASURED = re.compile(r"(?<![\w.,])(?:\d*\.\d+|\d+(?: ?%| per cent))")

# Sections of the methods' pages that are about the papers' experiments.
SECTIONS = {
    "docs/nsdr.md": "What of the paper reproduces",
    "docs/mac.md": "What of the paper reproduces",
    "docs/sldr.md": "What of the paper reproduces",
    "docs/sdr_glm.md": "What of the paper reproduces",
    "docs/snf.md": "Reading the paper's tables",
}
# Lessons on the papers' methods, and examples on the papers' own data.
LESSON_TEXTS = tuple(f"lesson {name}" for name in LESSONS if name[0] in "123456")
EXAMPLES = tuple(f"example {preset.name}" for preset in PRESETS.values() if preset.needs is not None)
WHOLE = (*SECTIONS, *LESSON_TEXTS, *EXAMPLES)


class Block(NamedTuple):
    """A paragraph, an item of a list, or a row of a table with the table's header."""

    text: str
    header: str = ""


def blocks_of(markdown):
    """Cut a text into blocks; spaces and ends of lines are all one."""
    found = []
    for part in re.split(r"\n\s*\n", markdown):
        lines = part.strip().splitlines()
        if lines and lines[0].startswith("|"):
            found += [Block(" ".join(line.split()), " ".join(lines[0].split())) for line in lines]
        else:
            found += [Block(" ".join(each.split())) for each in re.split(r"\n(?=(?:- |\d+\. ))", part)]
    return found


def lesson_blocks(lesson, told=("measured", "claimed")):
    """Return what the steps of a lesson say; a question with the right answer behind it."""
    found = []
    for step in lesson.steps:
        found += blocks_of(step.measured) + blocks_of(step.claimed)
        if step.question and "question" in told:
            asked = step.question
            found += blocks_of(f"{asked.text} {asked.options[asked.answer]}") + blocks_of(asked.reveal)
    return found


def text_blocks(name):
    """Return the blocks of a text that may quote results."""
    kind, _, rest = name.partition(" ")
    if kind == "lesson":
        return lesson_blocks(LESSONS[rest], ("measured", "claimed", "question"))
    if kind == "example":
        preset = next(preset for preset in PRESETS.values() if preset.name == rest)
        return [block for text in (preset.note, preset.more) for block in blocks_of(text)]
    if kind == "item":
        return blocks_of(items()[rest].reason) + blocks_of(items()[rest].note)
    return blocks_of((ROOT / name).read_text())


def told_blocks(name):
    """Return the blocks of a text whose every number has a source."""
    if name in SECTIONS:
        section = re.search(rf"\n## {SECTIONS[name]}\n(.*?)(?=\n## )", (ROOT / name).read_text(), flags=re.DOTALL)
        return blocks_of(section[1])
    kind, _, rest = name.partition(" ")
    return lesson_blocks(LESSONS[rest]) if kind == "lesson" else text_blocks(name)


def places(quote, blocks):
    """Return where the words of a quote stand; a row of a table is quoted whole."""
    words = re.escape(quote.says).replace(r"\{\}", NUMBER).replace(r"\{\~\}", f"(?:{NUMBER[1:-1]})")
    find = re.fullmatch if quote.says.startswith("|") else re.search
    return [match for block in blocks if (match := find(words, block.text))]


def agrees(printed, number, results):
    """Whether a number of a text is that of the results, rounded to as many digits as it has."""
    value = number.value(results)
    if printed.lower() in WORDS:
        return abs(value - WORDS[printed.lower()]) <= max(0.5 * (number.within == 0.0), number.within * value)
    digits = len(printed.partition(".")[2])
    distance = abs(value - float(printed.replace(",", "").replace("−", "-")))
    return distance <= max(0.5 * 10.0**-digits + 1e-9, number.within * abs(value))


def wrong_in(quote, blocks, results):
    """Return what of a quote is not as the results have it."""
    found = places(quote, blocks)
    if len(found) != 1:
        return [f"stands in {len(found)} places: {quote.says}"]
    pairs = zip(found[0].groups(), quote.numbers, strict=True)
    wrong = [
        f"{printed} is {number.value(results):.6g}" for printed, number in pairs if not agrees(printed, number, results)
    ]
    return wrong + [f"claim {place} does not hold" for place, holds in enumerate(quote.holds) if not holds(results)]


def without_source(blocks, quotes, elsewhere):
    """Return the measured numbers of blocks that stand in no quote and are from no other source."""
    left = []
    for block in blocks:
        plain = _plain(block.text)
        hidden = [(0, len(plain))] if any(block.header and block.header.startswith(each) for each in elsewhere) else []
        for quote in quotes:
            hidden += [match.span() for match in places(quote._replace(says=_plain(quote.says)), [Block(plain)])]
        for each in elsewhere:
            begin = plain.find(_plain(each.removesuffix("…")))
            if begin >= 0:
                hidden.append((begin, len(plain) if each.endswith("…") else begin + len(_plain(each))))
        left += [
            f"{match[0]}: {plain[max(0, match.start() - 40) : match.end() + 40]}"
            for match in MEASURED.finditer(plain)
            if not any(begin <= match.start() and match.end() <= end for begin, end in hidden)
        ]
    return left


def _plain(words):
    """Take code and addresses out of a text."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", words)


def said_elsewhere(name):
    return [words for source in ELSEWHERE.get(name, ()) for words in source.says]


@pytest.fixture(scope="module")
def results():
    with (RESULTS / "reproduce.csv").open(encoding="utf-8", newline="") as file:
        return read_results(file)


@pytest.mark.parametrize(
    ("name", "quote"),
    [pytest.param(name, quote, id=f"{name}-{k}") for name in QUOTES for k, quote in enumerate(QUOTES[name])],
)
def test_what_is_quoted_is_what_was_measured(name, quote, results):
    try:
        wrong = wrong_in(quote, text_blocks(name), results)
    except LeftOut as left_out:
        head = (RESULTS / "reproduce.md").read_text().partition("\n## ")[0]
        wrong = [] if f"`{left_out}`" in head else [f"{left_out} is not measured, and the results do not say so"]
    assert not wrong


@pytest.mark.parametrize("name", WHOLE)
def test_every_measured_number_has_a_source(name):
    assert not without_source(told_blocks(name), QUOTES.get(name, ()), said_elsewhere(name))


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_from_elsewhere_is_said(name):
    blocks = told_blocks(name)
    for words in said_elsewhere(name):
        assert any(words.removesuffix("…") in block.text or block.header.startswith(words) for block in blocks), words


def test_texts_name_items_that_exist():
    texts = [*ROOT.glob("docs/*.md"), *ROOT.glob("supdr_viz/lessons/*.toml"), ROOT / "README.md"]
    named = [
        (path.name, word)
        for path in texts
        for command in re.findall(r"`supdr-viz reproduce((?:\s+[a-z][-\w]+)+)", path.read_text())
        for word in command.split()
    ]
    assert len(named) > 10
    assert not [each for each in named if not any(item.startswith(each[1]) for item in items())]


def test_what_is_not_reproduced_has_a_reason(results):
    """Questions of our own apart."""
    assert all(name in items() for name in results)
    for name, rows in results.items():
        missed = [what for what, row in rows.items() if row.about != "question" and row.verdict in MISSED]
        assert not missed or items()[name].reason, missed


def test_a_wrong_digit_a_wrong_verdict_and_a_number_without_a_source_are_found():
    head = "item,about,what,paper,measured,sd,n,verdict,note"
    results = read_results([head, "figure,method,error,0.1 ± 0.02,0.126,0.01,10,reproduced,"])
    figure = Of("figure")
    good = Quote("errs on {}, as printed", (figure.mean("error"),), (figure.are("reproduced", "error"),))
    assert not wrong_in(good, blocks_of("It errs on\n.126, as printed."), results)
    assert not wrong_in(good, blocks_of("It errs on .13, as printed."), results)
    assert wrong_in(good, blocks_of("It errs on .127, as printed."), results) == [".127 is 0.126"]
    assert wrong_in(good, blocks_of("It errs on .126."), results)
    other = good._replace(holds=(figure.are("better", "error"),))
    assert wrong_in(other, blocks_of("It errs on .126, as printed."), results) == ["claim 0 does not hold"]
    with pytest.raises(LeftOut, match="other"):
        Of("other").mean("error").value(results)
    with pytest.raises(KeyError, match="accuracy"):
        figure.mean("accuracy").value(results)
    text = "It errs on .126, as printed.\n\n| set | error |\n|---|---|\n| wine | .03 |\n\n- A rival errs on 12 %."
    assert [each.split(":")[0] for each in without_source(blocks_of(text), [good], [])] == [".03", "12 %"]
    assert not without_source(blocks_of(text), [good], ["| set | error |", "A rival errs on…"])
