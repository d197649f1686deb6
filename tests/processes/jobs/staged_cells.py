"""Cells with `--processes` in a job of real processes: what each process tells of them, and its reports."""

from __future__ import annotations

import json
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from joined import PROCESS, WORDS, finish, join

SETUP = """
import jax, jax.numpy as jnp, numpy as np
from joined import mesh, ones
from jax.sharding import PartitionSpec as P
"""

join()

from jaxstage_ext.notebook.several.staged_in_engine import report, stage_cell  # noqa: E402

shell = InteractiveShell.instance()
shell.run_cell(SETUP)
told = {}
for name, cell in json.loads(Path(WORDS[0]).read_text()).items():
    staging = stage_cell(cell, name)
    told[name] = {"staging": staging, "report": report(name, 0, True, True)}
    staging["process"] = PROCESS
finish(told)
