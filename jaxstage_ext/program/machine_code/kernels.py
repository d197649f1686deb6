"""The machine code of a program, kernel by kernel."""

from __future__ import annotations

from jaxstage_ext.core.given import lacking_stage
from jaxstage_ext.program.fact import slow_fact
from jaxstage_ext.program.machine_code.kernel_texts import KernelTexts
from jaxstage_ext.program.machine_code.kernel_types import Kernels
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.progress import Progress
from jaxstage_ext.report.unavailable import Unavailable


@slow_fact
def kernels(program: Program, progress: Progress | None) -> Kernels:
    """The kernels of a program; what each takes and its texts wait until they are asked for.

    Raises:
      Unavailable: where nothing was compiled, or the worker cannot compile it.
      TargetError, WorkerDied, JaxRuntimeError: as a compile in the worker does.
    """
    if not program.has_hlo or program.executable is None:
        how = lacking_stage.how_to_compile(program.call) if program.is_of_file else "compile it again"
        raise Unavailable(f"{program.name} was not compiled here, so there is no machine code; {how}")
    return KernelTexts(program).kernels(progress)
