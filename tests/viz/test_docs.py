"""The documentation: it builds without a warning, and its programs run."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docutils import nodes
from latex2mathml.converter import convert

from supdr_viz.lessons import LESSONS

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
QUICK = ("README", "getting_started", "concepts", "nsdr")
"""Pages whose programs `make test` runs, in this process; `make test-all` runs those of each page in one of its own."""
PROGRAMS = [
    pytest.param(program, id=f"{page.stem}-{number}")
    for page in [ROOT / "README.md", *PAGES]
    for number, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.id.startswith(QUICK)])
def test_the_programs_run(program, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "program", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out or "print(" not in program


def test_every_part_of_a_formula_is_a_formula(monkeypatch):
    """Lines end within no bracket and no environment: what stands between is read by itself."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    mathml = importlib.import_module("mathml")
    formulas = [
        formula for page in PAGES for formula in re.findall(r"```\{math\}\n(.*?)```", page.read_text(), flags=re.DOTALL)
    ]
    assert len(formulas) > 10
    for formula in formulas:
        for part in mathml.lines(nodes.math_block(formula, formula)):
            assert "<math" in convert(part)
    cases = r"a = \begin{cases} b = c \\ d + e \end{cases} + f"
    whole = r"{} = \begin{cases} b = c \\ d + e \end{cases} "
    assert mathml.lines(nodes.math_block(cases, cases)) == ["a ", whole, "{} + f"]


@pytest.mark.slow
@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_the_programs_of_a_page_run_one_after_the_other(page, tmp_path):
    """As a reader tries them: a later one may go on with what an earlier one has made."""
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL)
    command = [sys.executable, "-c", "\n".join(programs)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def dead_links(site):
    """Links within the site that lead to no file, or to no place in a page."""
    pages = site.resolve().rglob("*.html")
    places = {page: set(re.findall(r'\b(?:id|name)="([^"]+)"', page.read_text())) for page in pages}
    dead = []
    for page in (page for page in places if "_static" not in page.parts):
        for link in re.findall(r'<[^<>]*\b(?:href|src)="([^"]+)"', page.read_text()):
            address = urlsplit(unescape(link))
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            if not (address.scheme or address.netloc) and (
                not target.is_file() or (address.fragment and unquote(address.fragment) not in places.get(target, ()))
            ):
                dead.append(f"{page.name}: {link}")
    return dead


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    sources = shutil.copytree(
        ROOT / "docs",
        tmp_path / "docs",
        ignore=shutil.ignore_patterns("_build", "_static", "_autosummary", "gallery"),
    )
    for name in ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"):  # pages show them
        shutil.copy(ROOT / name, tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "core"), str(ROOT)])}
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        str(sources),
        str(tmp_path / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    pages = {path.stem for path in (tmp_path / "out").glob("*.html")}
    assert {page.stem for page in PAGES} <= pages
    assert "api" in pages
    examples = {path.stem for path in (ROOT / "docs" / "examples").glob("plot_*.py")}
    gallery = (tmp_path / "out" / "gallery" / "index.html").read_text()
    assert len(examples) >= 15
    for example in examples:
        assert f'href="{example}.html"' in gallery
        page = (tmp_path / "out" / "gallery" / f"{example}.html").read_text()
        assert re.search(rf"<img[^>]+sphx_glr_{example}", page)
        assert f"{example}.ipynb" in page
    methods = ("nsdr", "mac", "sldr", "sdr_glm", "snf", "class_atlas")
    for page in methods:
        text = (tmp_path / "out" / f"{page}.html").read_text()
        assert "<math" in text  # formulas that a browser shows by itself, and none that nobody converts
        assert "\\lambda" not in text
        film = re.search(r'<iframe class="film" src="([^"]+)"', text)
        assert (tmp_path / "out" / film[1]).read_text().startswith("<!doctype html>")
    written = [path for path in (tmp_path / "out").rglob("*.html") if path.name not in ("search.html", "genindex.html")]
    reference = {"_autosummary", "_static", "_downloads", "_modules"}
    with_figures = tmp_path / "out" / "reproduce.html"  # not the page that results/reproduce.md makes
    assert "<svg" in with_figures.read_text()
    written.remove(with_figures)
    for page in [path for path in written if not reference & set(path.relative_to(tmp_path / "out").parts)]:
        article = page.read_text().partition("<article")[2]
        assert re.search(r"<(img|iframe) ", article) or page.name == "py-modindex.html", f"no picture on {page.name}"
    lessons = (tmp_path / "out" / "lessons.html").read_text()
    for lesson in LESSONS:
        assert f"_static/lessons/{lesson}.html" in lessons
        assert (tmp_path / "out" / "_static" / "lessons" / f"{lesson}.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "out" / "nsdr.html").read_text().count("<wbr>") > 5  # where the lines of its formulas may end
    assert dead_links(tmp_path / "out") == []
    for page in (tmp_path / "out").rglob("*.html"):  # nothing is fetched from elsewhere
        assert not re.findall(r"""<(?:script|link|img)[^>]+(?:src|href)=["'](?:https?:)?//[^"']+""", page.read_text())
