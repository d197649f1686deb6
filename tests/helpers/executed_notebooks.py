"""Notebooks executed in a kernel of their own, and what their cells left; `make demo` runs one in a user's."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import compiled_once
import pictured_answers
import pytest

from tests.showcase.answers import asking, read_answers

if TYPE_CHECKING:
    import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@functools.cache
def demo() -> ModuleType:
    """notebooks/demo.py, with kernels whose sockets are their own."""
    from kernels import ForkedManager
    from nbclient import NotebookClient

    spec = importlib.util.spec_from_file_location("demo", NOTEBOOKS / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.NotebookClient = functools.partial(NotebookClient, kernel_manager_class=ForkedManager)  # type: ignore[attr-defined]
    return module


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def shown(notebook: nbformat.NotebookNode, holding: str) -> str:
    """All text that the cell which holds this left, printed and as its value."""
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code" and holding in cell.source)
    return printed(cell) + "".join(output.data["text/plain"] for output in cell.outputs if "data" in output)


def run(name: str, *first: str) -> nbformat.NotebookNode:
    """A notebook executed, after cells of this source; nothing is written to standard error, and all can be shown.

    As it is, it takes from the folder what compilers gave earlier, as a user's second kernel does; but one that
    measures this machine keeps the ceilings in a folder of its own, where no other test finds a roofline. A notebook as
    it is gives the answers that its stored pictures say.
    """
    import nbformat

    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    notebook.cells[:0] = [nbformat.v4.new_code_cell(source) for source in first]
    pictured = {} if first else pictured_answers.expressions(Path(name).stem)
    notebook.cells.append(nbformat.v4.new_code_cell(asking(pictured)))
    with pytest.MonkeyPatch.context() as patch:
        if not any(MEASURES in cell.source for cell in notebook.cells if cell.cell_type == "code"):
            patch.setenv("JAXSTAGE_CACHE_DIR", str(compiled_once.folder()))
        demo().run(notebook, NOTEBOOKS)
    pictured_answers.assert_pictures_say(read_answers(notebook.cells.pop().outputs))
    streams = [output for cell in notebook.cells for output in cell.get("outputs", ()) if "name" in output]
    assert not [output.text for output in streams if output.name == "stderr"]
    assert not [output.text for output in streams if "cannot be shown" in output.text]
    return notebook


MEASURES = "%targets --measure"
NO_COMPILERS = """
from jaxstage_ext.core.targets import packages
packages._libtpu = lambda: packages.InstalledCompiler(lacks="needs libtpu, the TPU compiler: pip")
packages._cuda = lambda: packages.InstalledCompiler(lacks="needs JAX's CUDA plugin: pip")
"""


def row(table: str, target: str) -> str:
    return next(line for line in table.splitlines() if line.strip().startswith(target))


def figures(text: str, holding: str) -> list[float]:
    """The numbers of the first line that holds this."""
    line = next(line for line in text.splitlines() if holding in line)
    return [float(number) for number in re.findall(r"\d[\d.]*(?:e[+-]\d+)?", line)]
