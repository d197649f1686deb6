"""Profiling a call of a function that JAX stages: its Inspection, and the timeline of its run."""

from __future__ import annotations

import ast
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.core.call import Call, has_method
from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cells import calls as calling
from jaxstage_ext.notebook.cells.cell import execute
from jaxstage_ext.notebook.profiles import profile_results, profiled_code

if TYPE_CHECKING:
    from jaxstage_ext.api.inspection import Inspection

_FN, _ARGS, _KWARGS = "_profiled_function", "_profiled_args", "_profiled_kwargs"


async def is_staged(ip: Any, call: ast.Call, file: str, space: dict[str, Any]) -> bool:
    """Whether a call is one of a function that JAX stages: jit and what wraps it."""
    if any(isinstance(node, ast.Await) for node in ast.walk(call)):
        return False
    if isinstance(call.func, ast.Attribute) and any(isinstance(node, ast.Call) for node in ast.walk(call.func)):
        return False  # to look at the method of a result would run the call that gives it
    fn = await execute(ip, call.func, file, "eval", space)
    return (has_method(fn, "lower") or has_method(fn, "trace")) and calling.why_not(fn) is None


class StagedProfile:
    """A call to inspect and to run under the profiler."""

    def __init__(
        self, ip: Any, options: Namespace, cell: str, call: ast.Call, file: str, space: dict[str, Any]
    ) -> None:
        self.ip, self.options, self.cell = ip, options, cell
        self.call, self.file, self.space = call, file, space
        self.inspection: Inspection | None = None
        self._value: Any = None
        self._failure: BaseException | None = None

    async def run(self) -> Any:
        """Inspect the call, run it, show both, and give its value. Raises what it raises."""
        call = await self._stated()
        staging.check_values([call], "%profile", "inspect it with %compile")
        [self.inspection], stopped = staging.stage(
            self.ip,
            [call],
            "compile",
            self.options.quiet,
            staging.in_kernel(),
            then=lambda pending: self._profile(pending[0]),
        )
        if failure := self._failure or stopped:
            raise failure
        return self._value

    async def _stated(self) -> Call:
        name = calling.title(self.call.func)
        fn, args, mappings = await execute(self.ip, calling.parts(self.call), self.file, "eval", self.space)
        return Call(fn, args, calling.merged(name, mappings), name, cell=self.cell, compiler_options=self._compiler())

    def _compiler(self) -> dict[str, Any]:
        if not self.options.command_buffers:
            return {}
        import jax

        if (platform := jax.default_backend()) != "gpu":
            raise UsageError(f"--command-buffers is for GPUs, and this kernel runs on {platform}; drop it")
        return {"xla_gpu_enable_command_buffer": ""}

    def _profile(self, inspection: Inspection) -> None:
        from jaxstage_ext.profiling.capture.capture import Capture
        from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy
        from jaxstage_ext.program.running import profile_run

        program, capture = inspection.program, Capture(inspection.name, profile_results.capture_options(self.options))
        given = self._runner(inspection, fresh=False)
        run = self._runner(inspection, fresh=True) if self._is_fresh else given
        plan = profile_run.RunPlan(
            run, self.options.warm, self.options.cold, self._is_fresh, given, not self.options.command_buffers
        )
        try:
            self._value = profile_run.profile_calls(program, plan, capture)
        except (ProfilerBusy, profile_run.CannotRun) as error:
            self._failure = UsageError(str(error))
        except Exception as error:
            self._failure = staging.without_our_frames(self.ip, error)
        finally:
            profile_results.save(capture, self.options)

    @property
    def _is_fresh(self) -> bool:
        """Whether each run evaluates its arguments anew."""
        return bool(self.options.steps > 1 and profiled_code.asks_again(self.call))

    def _runner(self, inspection: Inspection, fresh: bool) -> Callable[[], Any]:
        """Runs the call at its place in the cell, whose line is then that of the user."""
        if self.options.command_buffers:
            return inspection.execute
        called = Call(inspection.call.fn, inspection.call.args, inspection.call.kwargs)
        own = {_FN: called.fn, _ARGS: called.args, _KWARGS: dict(called.kwargs)}
        fn = ast.Name(_FN, ast.Load())
        if fresh:
            node, own = ast.Call(fn, self.call.args, self.call.keywords), {**self.space, **own}
        else:
            args: list[ast.expr] = [ast.Starred(ast.Name(_ARGS, ast.Load()), ast.Load())]
            node = ast.Call(fn, args, [ast.keyword(None, ast.Name(_KWARGS, ast.Load()))])
        placed = ast.fix_missing_locations(ast.copy_location(node, self.call))
        code = compile(ast.Expression(placed), self.file, "eval")
        return lambda: eval(code, own)
