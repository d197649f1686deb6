"""A reader of the product's outputs: it has the text of a program and what is answered, and edits by that alone."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.faults import FOLDER, Fault

import jaxstage_ext
from jaxstage_ext.agents import kernel_tools
from jaxstage_ext.command.command_line_entry import main

ROOT = FOLDER.parents[1]


@dataclass
class Reading:
    """The calls that a reader made and what it was answered, in order; `left` are the findings at the end."""

    calls: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    edited: str = ""
    left: dict[str, Any] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return sum(map(len, self.answers)) // 4

    def said(self, call: str, answer: str) -> str:
        self.calls.append(call)
        self.answers.append(answer)
        return answer

    def found(self, call: str, answer: str) -> dict[str, Any]:
        form: dict[str, Any] = json.loads(self.said(call, answer))
        return form


def loop(fault: Fault) -> Reading:
    """Find, change, try, stop: with the expressions of a notebook, the tools, or the command line."""
    return {"notebook": _in_a_notebook, "tools": _by_tools, "command line": _on_a_command_line}[fault.asked](fault)


def edited(fault: Fault, reading: Reading, found: dict[str, Any]) -> str:
    """The program's text with the change that a finding gives."""
    text = fault.program.read_text()
    if not fault.edits:
        return patched(text, found["change"])
    for before, after in fault.edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


def patched(text: str, change: str) -> str:
    """A text with a unified diff of one hunk applied."""
    head, _, hunk = change.partition("@@\n")
    lines = hunk.split("\n")
    old = "\n".join(line[1:] for line in lines if line[:1] in " -")
    new = "\n".join(line[1:] for line in lines if line[:1] in " +")
    assert head.startswith("---") and text.count(old) == 1, change
    return text.replace(old, new)


def _in_a_notebook(fault: Fault) -> Reading:
    reading, ins = Reading(), inspected(fault, fault.program)
    seen = reading.said("ins._repr_llm_()", ins._repr_llm_())
    looked = ins.findings if f"[{fault.kind}]" in seen else ins.findings.all()
    how = "ins.findings" if f"[{fault.kind}]" in seen else "ins.findings.all()"
    at, found = _wanted(fault, reading.found(f"{how}.to_json(limit=3)", looked.to_json(limit=3)))
    if found["can_be_tried"]:
        reading.said(f"ins.findings[{at}].try_()", str(ins.findings[at].try_()))
    reading.edited = edited(fault, reading, found)
    before, ins = ins, inspected(fault, fault.mended)
    reading.said("ins._repr_llm_()", ins._repr_llm_())
    found = reading.found("ins.findings.all().to_json(limit=3)", ins.findings.all().to_json(limit=3))
    for at, one in enumerate(found["findings"]):
        one["tried"] = reading.said(f"ins.findings[{at}].try_()", str(ins.findings[at].try_()))
    reading.said("ins.compare(before)", str(ins.compare(before)))
    reading.left = found
    return reading


def _by_tools(fault: Fault) -> Reading:
    reading, names = Reading(), {"ins": inspected(fault, fault.program)}

    def ask(**request: Any) -> str:
        return reading.said(json.dumps(request), kernel_tools.answer(json.dumps(request), names))

    seen = ask(tool="inspection", name="ins")
    at, found = _wanted(
        fault, json.loads(ask(tool="findings", name="ins", limit=3, everything=f"[{fault.kind}]" not in seen))
    )
    if found["can_be_tried"]:
        ask(tool="try", name="ins", finding=at)
    reading.edited = edited(fault, reading, found)
    names |= {"before": names["ins"], "ins": inspected(fault, fault.mended)}
    ask(tool="inspection", name="ins")
    reading.left = json.loads(ask(tool="findings", name="ins", limit=3, everything=True))
    for at, one in enumerate(reading.left["findings"]):
        one["tried"] = ask(tool="try", name="ins", finding=at)
    ask(tool="compare", name="ins", before="before")
    return reading


def _on_a_command_line(fault: Fault) -> Reading:
    reading = Reading()
    first = _command(fault, fault.program, fault.call)
    _, found = _wanted(fault, reading.found(_typed(fault, fault.call), first))
    reading.edited = edited(fault, reading, found)
    call = fault.call_after or fault.call
    reading.left = reading.found(_typed(fault, call), _command(fault, fault.mended, call))
    return reading


def _options(fault: Fault, call: str) -> list[str]:
    mesh = ["--mesh", fault.mesh] if fault.mesh else []
    return [call, "-t", fault.target, *mesh, "--all", "--json"]


def _typed(fault: Fault, call: str) -> str:
    quoted = [f'"{word}"' if " " in word or "(" in word else word for word in _options(fault, call)]
    return " ".join(["python -m jaxstage_ext findings", f"{fault.name}.py", *quoted])


def _command(fault: Fault, file: Path, call: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), modules_restored():
        assert main(["findings", str(file), *_options(fault, call)]) == 0
    return out.getvalue()


@contextlib.contextmanager
def modules_restored() -> Iterator[None]:
    """What a command sets for the user's file is as before after it."""
    names = ("argv", "stdin", "dont_write_bytecode", "path")
    before, modules = {name: getattr(sys, name) for name in names}, set(sys.modules)
    sys.path = [*sys.path]
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(sys, name, value)
        for name in [*sys.modules]:
            if name not in modules and str(getattr(sys.modules[name], "__file__", "")).startswith(str(FOLDER)):
                del sys.modules[name]


def imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(fault: Fault, file: Path) -> tuple[Any, list[Any], ModuleType]:
    """The function and arguments of the fault's call, of a file."""
    module = imported(file)
    text = (fault.call_after if file == fault.mended else "") or fault.call
    fn, *names = re.findall(r"\w+", text)
    return getattr(module, fn), [getattr(module, name) for name in names], module


def inspected(fault: Fault, file: Path) -> Any:
    fn, arguments, module = called(fault, file)
    specs = getattr(module, "specs", ())
    return jaxstage_ext.inspect(fn, *arguments, target=fault.target, mesh=fault.mesh or None, in_specs=specs)


def _wanted(fault: Fault, form: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The planted finding, and its place."""
    return next((at, one) for at, one in enumerate(form["findings"]) if one["kind"] == fault.kind)
