"""What sentences tell to type outside IPython: no magic, and Python that there is."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import jaxstage_ext
from jaxstage_ext.report.text import typed_forms

PACKAGE = Path(jaxstage_ext.__file__).parent
FOR_IPYTHON = ("notebook", "processes")
"""Rooms whose sentences only a notebook of IPython's shows: their jobs begin with `%processes`."""
MAGIC = re.compile(r"(?<![\w%])%{1,2}(?:config|timeline|targets|compile|inspect|profile|findings|xla_flags|compiles)\b")
NAMED = re.compile(r"jaxstage_ext\.(\w+)(?:\((.*?)\))?")


@functools.cache
def trees() -> list[tuple[str, ast.Module]]:
    """The modules that may have a magic or its Python form."""
    files = [file.relative_to(PACKAGE) for file in sorted(PACKAGE.rglob("*.py"))]
    sources = {str(file): (PACKAGE / file).read_text("utf-8") for file in files if file.parts[0] not in FOR_IPYTHON}
    return [(file, ast.parse(text)) for file, text in sources.items() if MAGIC.search(text) or "typed(" in text]


def typed_calls(tree: ast.Module) -> list[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "typed"]


def texts(node: ast.AST) -> list[ast.Constant]:
    return [part for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            yield node.value


def python_forms() -> list[str]:
    forms = [call.args[1] for _, tree in trees() for call in typed_calls(tree)]
    return ["".join(str(part.value) for part in texts(form)) for form in forms]


def test_no_sentence_has_a_magic_without_its_python_form() -> None:
    left = []
    for name, tree in trees():
        magics = {id(part) for call in typed_calls(tree) for part in texts(call.args[0])}
        not_said = magics | {id(value) for value in docstrings(tree)}
        left += [
            f"{name}: {part.value}" for part in texts(tree) if id(part) not in not_said and MAGIC.search(part.value)
        ]
    assert not left, "\n".join(left)


def test_python_forms_name_public_functions_and_parameters_of_theirs() -> None:
    named = [found for form in python_forms() for found in NAMED.finditer(form)]
    assert len({found[1] for found in named}) >= 6
    for name, given in (found.groups() for found in named):
        assert name in jaxstage_ext.__all__
        parameters = inspect.signature(getattr(jaxstage_ext, name)).parameters
        assert set(re.findall(r"(\w+)=", given or "")) <= set(parameters)


def test_a_python_form_has_no_magic() -> None:
    assert not [form for form in python_forms() if MAGIC.search(form)]
    assert any(MAGIC.search(part.value) for _, tree in trees() for call in typed_calls(tree) for part in texts(call))


def test_what_is_typed_outside_ipython_is_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert not typed_forms.in_ipython()
    assert typed_forms.typed("%profile f(x)", "jaxstage_ext.profile(f, x)") == "jaxstage_ext.profile(f, x)"
