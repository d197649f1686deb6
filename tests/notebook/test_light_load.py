"""What `%load_ext` imports: enough to register the magics and to hear JAX, and nothing of what they do."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jaxstage_ext.core import jax_private

MOST_MODULES = 60
"""Of ours. On the machine of `make benchmarks` these take 20 ms; when there were 119, they took 65."""
HEAVY = (
    *("anywidget", "ipywidgets", "plotly", "pandas", "numpy.typing"),
    "jaxstage_ext.report.frames",
    "jaxstage_ext.core.staged",
    "jaxstage_ext.core.targets.catalogue",
    "jaxstage_ext.core.jax_private.lowered",
    "jaxstage_ext.compilation.records.compile_record",
    "jaxstage_ext.notebook.cell_request",
    "jaxstage_ext.panel",
    "jaxstage_ext.program",
    "jaxstage_ext.worker.pool",
)
LOAD = """
import json, sys
import jax
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
if {backend}:
    jax.devices()
before = set(sys.modules)
shell.run_line_magic("load_ext", "jaxstage_ext")
after = set(sys.modules)
shell.run_cell("import jax; jax.jit(lambda x: x + 1)(1)")
from jaxstage_ext.compilation.records.compile_log import LOG
print(json.dumps([sorted(after - before), len(LOG)]))
"""


@pytest.mark.parametrize("backend", [False, True])
def test_loading_imports_little(backend: bool) -> None:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    code = LOAD.format(backend=backend)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    added, logged = json.loads(done.stdout.splitlines()[-1])
    ours = [name for name in added if name.startswith("jaxstage_ext")]
    assert len(ours) <= MOST_MODULES, ours
    assert [name for name in HEAVY if name in added] == []
    assert logged, "the log did not hear the first compile"


def test_private_names_come_from_their_files() -> None:
    """What type checkers see is what is given at run time, and no name is that of a file, which would hide it."""
    tree = ast.parse(Path(str(jax_private.__file__)).read_text())
    imported = {
        name.name: node.module.rpartition(".")[2]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and "jax_private." in node.module
        for name in node.names
    }
    assert imported == jax_private._HOMES
    assert sorted(imported) == sorted(jax_private.__all__)
    assert not imported.keys() & set(imported.values())
    for name, home in imported.items():
        assert getattr(jax_private, name) is getattr(sys.modules[f"{jax_private.__name__}.{home}"], name)
    with pytest.raises(AttributeError, match="nothing_of_the_sort"):
        _ = jax_private.nothing_of_the_sort
