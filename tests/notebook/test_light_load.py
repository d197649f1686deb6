"""What `%load_ext` imports: enough to register the magics and to hear JAX, and nothing of what they do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

MOST_MODULES = 60
"""Of ours. On the machine of `make benchmarks` these take 20 ms; when there were 119, they took 65."""
HEAVY = (
    *("anywidget", "ipywidgets", "plotly", "pandas", "numpy.typing"),
    "jaxstage_ext.report.frames",
    "jaxstage_ext.core.stage.staged",
    "jaxstage_ext.core.targets.catalogue",
    "jaxstage_ext.core.jax_private.lowered_modules",
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
