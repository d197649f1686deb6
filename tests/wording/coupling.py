"""Which tests quote the product's sentences: run by hand, `python tests/wording/coupling.py [MODULE ...]`.

By reading: a test quotes a module where a literal in it has four words in a row of one of its constants. By running,
`pytest -p coupling --other-words MODULE,MODULE tests/...` with tests/wording on the path: what fails with other words
depends on words.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "jaxstage_ext"
sys.path[:0] = [str(TESTS.parent), str(TESTS / "helpers")]
_RUN = re.compile(r"[A-Za-z'-]+(?:[,;:]? [A-Za-z'-]+(?![\w.(=]))+")
_WORDS = 4

Shingles = set[tuple[str, ...]]


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--other-words", default="", help="the wording modules that say something else; all: every one")


def pytest_configure(config: Any) -> None:
    import wordings

    modules, given = wordings.wording_modules(), config.getoption("--other-words")
    for name in modules if given == "all" else filter(None, given.split(",")):
        wordings.reword(modules[name], setattr)


def _shingles(text: str) -> Shingles:
    runs = (re.split(r"[,;:]? ", run.lower()) for run in _RUN.findall(text))
    return {tuple(words[at : at + _WORDS]) for words in runs for at in range(len(words) - _WORDS + 1)}


def _literals(tree: ast.AST) -> Iterator[str]:
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def _sentences() -> dict[tuple[str, ...], set[Path]]:
    found: dict[tuple[str, ...], set[Path]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        for text in _literals(ast.parse(file.read_text())):
            for shingle in _shingles(text):
                found[shingle].add(file)
    return found


def _tests() -> Iterator[tuple[str, ast.AST]]:
    for file in sorted(TESTS.rglob("*.py")):
        if "wording" not in file.relative_to(TESTS).parts:
            for node in ast.parse(file.read_text()).body:
                yield f"{file.relative_to(TESTS.parent)}::{getattr(node, 'name', '(names)')}", node


def quotations() -> dict[Path, dict[str, set[str]]]:
    """For each module of the package, the tests that quote it, each with the words that it quotes."""
    sentences = _sentences()
    found: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for test, node in _tests():
        for shingle in set().union(*map(_shingles, _literals(node))):
            for file in sentences.get(shingle, ()):
                found[file][test].add(" ".join(shingle))
    return found


def main(names: list[str]) -> None:
    """Count the tests that quote each module, or list those of some modules."""
    import wordings

    found, modules = quotations(), wordings.wording_modules()
    rows = sorted(found.items(), key=lambda row: -len(row[1]))
    for file, tests in rows if names else [row for row in rows if row[0].stem in modules]:
        if not names or file.stem in names:
            print(f"{len(tests):4} tests quote {file.relative_to(PACKAGE)}")
            for test, words in sorted(tests.items()) if names else ():
                print(f"       {test}: {'; '.join(sorted(words)[:2])}")
    print(f"{len(set().union(*found.values())):4} tests quote the package")


if __name__ == "__main__":
    main(sys.argv[1:])
