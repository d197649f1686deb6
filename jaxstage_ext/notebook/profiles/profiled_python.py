"""Profiling statements as written: loops, assignments, calls of plain Python functions."""

from __future__ import annotations

import ast
import contextlib
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.notebook.cells.cell import execute
from jaxstage_ext.notebook.cells.toplevel_await import interruptible
from jaxstage_ext.notebook.profiles import profile_results, profiled_code

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.profiling.capture.capture import Capture


class PythonProfile:
    """Statements to run under the profiler. What is known of them is what the profile says."""

    def __init__(
        self, ip: Any, options: Namespace, cell: str, body: Sequence[ast.stmt], file: str, space: dict[str, Any]
    ) -> None:
        self.ip, self.options, self.cell = ip, options, cell
        self.body, self.file, self.space = list(body), file, space
        self.inspection: Inspection | None = None
        self.is_warmed = bool(options.warm or (options.steps > 1 and not options.cold))
        if options.command_buffers:
            raise UsageError("--command-buffers needs a call of a jitted function, which it compiles again; drop it")

    async def run(self) -> Any:
        """Run the statements, show the timeline, and give the value of the last one. Raises what they raise."""
        from jaxstage_ext.profiling.capture.capture import Capture
        from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy
        from jaxstage_ext.program.running.profile_run import check_profiler

        capture = Capture(profiled_code.title(self.body), profile_results.capture_options(self.options))
        failure: BaseException | None = None
        value = None
        try:
            check_profiler(capture)
            if self.is_warmed:
                await self._run_once()
            with capture.recording():
                for _ in range(self.options.steps):
                    with capture.step() as results:
                        results.append(value := await self._run_once())
        except ProfilerBusy as error:
            failure = UsageError(str(error))
        except BaseException as error:
            failure = error
        self._show(capture)
        if failure is not None:
            raise failure
        return value

    async def _run_once(self) -> Any:
        value = None
        for node in self.body:
            with contextlib.nullcontext() if _awaits(node) else interruptible():
                if isinstance(node, ast.Expr):
                    value = await execute(self.ip, node.value, self.file, "eval", self.space)
                else:
                    value = await execute(self.ip, node, self.file, "exec", self.space)
        return value

    def _show(self, capture: Capture) -> None:
        from jaxstage_ext.api.inspection import Inspection
        from jaxstage_ext.profiling.capture.capture_facts import FirstRun
        from jaxstage_ext.program.running.profile_run import recorded

        first = FirstRun.ASKED if self.options.cold else FirstRun.UNKNOWN
        program = recorded(capture, FirstRun.LEFT_OUT if self.is_warmed else first, self.cell)
        if program is None:
            return
        self.inspection = Inspection(program)
        profile_results.save(capture, self.options)
        if not self.options.quiet:
            profile_results.show(program)


def _awaits(node: ast.AST) -> bool:
    """Whether the statement may give way to the event loop, which an interrupt then has to cancel."""
    return any(isinstance(part, ast.Await | ast.AsyncFor | ast.AsyncWith) for part in ast.walk(node))
