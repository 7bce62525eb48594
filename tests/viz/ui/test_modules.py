"""Modules of scripts, joined into one."""

import pytest

from supdr_viz.ui.own_files import bundle


@pytest.fixture
def joined(tmp_path):
    """Return how modules, file name -> text, are joined with ``main.js`` as their entry."""

    def join(**texts):
        for name, text in texts.items():
            path = tmp_path / name.replace("__", ".").replace("_in_", "/")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return bundle("main.js", tmp_path)

    return join


def test_a_module_that_imports_nothing_loses_its_comments_only(joined):
    text = "export function render() {\n  return 1 // one\n}\n"
    assert joined(main__js=f"// alone\n{text}  // the end\n") == text


def test_every_module_stands_once_before_what_imports_it(joined):
    script = joined(
        main__js='import {a} from "./one.js"\nimport {b} from "./two.js"\nexport const sum = a + b\n',
        one__js='import {c} from "./three.js"\nexport const a = c\n',
        two__js='import {c} from "./three.js"\n\nexport const b = c\n',
        three__js="export const c = 1\n",
    )
    assert "import" not in script
    places = [script.index(f"const ${name} =") for name in ("three", "one", "two")]
    assert places == sorted(places)
    assert script.count("const c = 1") == 1
    assert script.endswith("const {a} = $one\nconst {b} = $two\nexport const sum = a + b\n")


def test_a_json_file_is_its_value(joined):
    script = joined(main__js='import sizes from "./a.json" with {type: "json"}\nsizes\n', a__json='{"mark": 11}')
    assert script == 'const $a = {"mark": 11}\nconst sizes = $a\nsizes\n'


def test_modules_do_not_import_each_other_in_a_circle(joined):
    texts = {"main__js": 'import "./one.js"\n', "one__js": 'import "./two.js"\n', "two__js": 'import "./one.js"\n'}
    with pytest.raises(ValueError, match=r"circle; got main\.js -> one\.js -> two\.js -> one\.js"):
        joined(**texts)


@pytest.mark.parametrize(
    "line", ['import * as all from "./one.js"', 'import x from "elsewhere"', "export let a = 1", "export {a}"]
)
def test_other_forms_are_refused(joined, line):
    with pytest.raises(ValueError, match=r"main\.js: an import must name a file") as error:
        joined(main__js=f"const a = 1\n{line}\n", one__js="export const a = 1\n")
    assert line in str(error.value)
