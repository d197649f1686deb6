"""What XLA dumped of a module beside its HLO: passes, buffers, machine code. A worker reads it."""

from __future__ import annotations

from typing import Any

from jaxstage_ext.core.recompile.machine_code import LARGEST_FILE
from jaxstage_ext.ir.dumps.dump_index import DumpedModule
from jaxstage_ext.ir.machine import kernel_artefacts
from jaxstage_ext.ir.machine.kernel_artefacts import KernelArtefacts
from jaxstage_ext.ir.passes import pipeline
from jaxstage_ext.ir.passes.pipeline import Pipeline
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.text.encodable import shown_name
from jaxstage_ext.report.unavailable import Unavailable

_TIMEOUT = 600.0


def passes(module: DumpedModule, progress: Progress | None = None) -> Pipeline:
    """Its passes. Raises Unavailable where the dump has none."""
    if not module.has_pass_texts:
        raise Unavailable(
            f"the dump has no passes of {shown_name(module.name)} as text; compile it with "
            "XLA_FLAGS='--xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text'"
        )
    answer = _asked(module, progress, method="dumped_passes")
    return pipeline.pipeline(answer["head"], answer["parts"])


def code(module: DumpedModule, progress: Progress | None = None) -> KernelArtefacts:
    """The machine code of its kernels. Raises Unavailable where the dump has none."""
    if not module.has_code:
        raise Unavailable(
            f"the dump has no machine code of {shown_name(module.name)}; compile it with "
            "XLA_FLAGS='--xla_dump_emitter_re=llvm|ptx'"
        )
    answer = _asked(module, progress, method="dumped_code", largest=LARGEST_FILE)
    return kernel_artefacts.read(answer["head"], answer["parts"])


def _asked(module: DumpedModule, progress: Progress | None, **request: Any) -> Any:
    from jaxstage_ext.worker import pool  # it needs Unix

    try:
        where = {"folder": str(module.folder.resolve()), "keys": module.keys}
        return pool.ask("cpu", {**request, **where}, _TIMEOUT, progress=progress, lane="recompile")
    except pool.RequestFailed as failed:
        why = (str(failed).splitlines() or [failed.type])[0]
        raise Unavailable(f"the dump of {shown_name(module.name)} cannot be read: {why}") from None
