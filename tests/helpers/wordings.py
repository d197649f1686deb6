"""The modules that write the product's sentences, found by their names; and the same modules with other words."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from enum import EnumType
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import jaxstage_ext

PACKAGE = Path(jaxstage_ext.__file__).parent
_NAMES = re.compile(r"(\w+_)?(wording|advice|notes|titles|help)|advice_for_\w+")
_SENTENCE = re.compile(r"[^\W\d_]{2,}[,;:]? [^\W\d_]|^ ?[^\W\d_]{2,}[,;:]? $|^[,;:]? [^\W\d_]{2,}")
"""Two words, or a word of an f-string with a space beside it."""
_DECIDES = {"memory_advice"}
"""What has such a name and writes no sentence."""
_WRITES_CODE = {"jaxstage_ext.compilation.causes.advice_for_functions"}
"""Whose texts are names and code."""
_WORD = re.compile(r"(?<![\w{.%-])[^\W\d_]{2,}(?![\w}.(=])")


@functools.cache
def wording_modules() -> dict[str, str]:
    """The full names of the modules that write sentences, by their last part."""
    files = (
        file for file in sorted(PACKAGE.rglob("*.py")) if _NAMES.fullmatch(file.stem) and file.stem not in _DECIDES
    )
    names = [".".join(["jaxstage_ext", *file.relative_to(PACKAGE).with_suffix("").parts]) for file in files]
    return {name.rpartition(".")[2]: name for name in names}


def is_sentence(text: str) -> bool:
    """Whether a constant is words of a sentence, and not a name or a separator."""
    return bool(_SENTENCE.search(text))


def pieces(name: str) -> list[str]:
    """The constants of a module that are words of a sentence, in its own order; no docstrings, no enums' values."""
    source = inspect.getsource(importlib.import_module(name))
    tree = ast.parse(source)
    left_out = {id(part) for node in ast.walk(tree) for part in _not_said(node)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in left_out)
    return [node.value for node in constants if isinstance(node.value, str) and is_sentence(node.value)]


def _not_said(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Expr):
        yield node.value
    elif isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases):
        yield from ast.walk(node)
    elif isinstance(node, ast.AnnAssign | ast.arg):
        yield from ast.walk(node.annotation) if node.annotation is not None else ()


def other_words(text: str) -> str:
    """A sentence with each word turned round; figures, names, code and separators stay."""
    return _WORD.sub(lambda word: word[0][::-1], text) if is_sentence(text) else text


Held = dict[int, list[tuple[ModuleType, str]]]
"""Of each text and table, by its id: the modules that hold it, and the name there."""


def holders() -> Held:
    """Who holds what, once all wording modules are here: one that came later would keep the other words of these."""
    for name in wording_modules().values():
        importlib.import_module(name)
    held: Held = {}
    for module in [module for name, module in sys.modules.items() if name.startswith("jaxstage_ext")]:
        for name, value in vars(module).items():
            if isinstance(value, str | dict):
                held.setdefault(id(value), []).append((module, name))
    return held


def reword(name: str, put: Callable[[Any, str, Any], None], held: Held | None = None) -> int:
    """Give a module other words, wherever they are used; `put` is `setattr`. The number of what was changed."""
    held = holders() if held is None else held
    module, changed = importlib.import_module(name), 0
    for function in _functions(module):
        code = _reworded(function.__code__)
        if code is not function.__code__:
            put(function, "__code__", code)
            changed += 1
    for constant, value in vars(module).copy().items():
        if isinstance(value, str | dict) and not constant.startswith("__"):
            changed += _reword_constant(value, put, held)
        if isinstance(value, EnumType) and value.__module__ == name:
            changed += sum(_reword_member(member, put) for member in value)  # type: ignore[misc]
    return changed


def silence(put: Callable[[Any, str, Any], None]) -> None:
    """Give every wording module other words, and let each public function that returns a text return `OTHER`."""
    held = holders()
    for name in wording_modules().values():
        reword(name, put, held)
        for function in _functions(importlib.import_module(name)):
            is_public = not function.__name__.startswith("_") and function.__annotations__.get("return") == "str"
            if is_public and function.__module__ not in _WRITES_CODE:
                put(function, "__code__", _other.__code__)


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    for value in vars(module).values():
        members = vars(value).values() if inspect.isclass(value) else [value]
        for member in members:
            function = inspect.unwrap(member) if callable(member) else getattr(member, "fget", None)
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                yield function


def _reworded(code: CodeType) -> CodeType:
    constants = tuple(map(_changed, code.co_consts))
    return code if constants == code.co_consts else code.replace(co_consts=constants)


def _changed(constant: Any) -> Any:
    if isinstance(constant, CodeType):
        return _reworded(constant)
    return other_words(constant) if isinstance(constant, str) else constant


def _reword_constant(value: Any, put: Callable[[Any, str, Any], None], held: Held) -> int:
    """The same object stands in every module that imported it by name."""
    other = _other_value(value)
    if other == value:
        return 0
    for module, name in held.get(id(value), ()):  # none of what another module's turn has changed
        put(module, name, other)
    return 1


def _other(*_: Any, **__: Any) -> str:
    return "⟦other words⟧"  # it has the globals of the function whose code it becomes


def _reword_member(member: Any, put: Callable[[Any, str, Any], None]) -> int:
    if not isinstance(member.value, str) or other_words(member.value) == member.value:
        return 0
    put(member, "_value_", other_words(member.value))
    return 1


OTHER = _other()


def _other_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _other_value(each) for key, each in value.items()}
    return other_words(value) if isinstance(value, str) else value


def constants(module: ModuleType) -> dict[str, str]:
    """The sentences that a wording module has ready made, by their names."""
    said: dict[str, str] = {}
    for name, value in vars(module).items():
        if isinstance(value, str) and not name.startswith("__") and is_sentence(value):
            said[name] = value
        if isinstance(value, dict) and not name.startswith("__") and all(isinstance(v, str) for v in value.values()):
            said |= {f"{name}: {getattr(key, 'name', key)}": text for key, text in value.items()}
    return said
