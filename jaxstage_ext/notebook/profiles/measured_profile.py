"""`%%profile --measure`: how long a call takes, by repeated runs."""

from __future__ import annotations

import ast
from argparse import Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from jaxstage_ext.notebook.cells import calls as calling
from jaxstage_ext.notebook.cells.cell import execute
from jaxstage_ext.notebook.profiles import profiled_code
from jaxstage_ext.report.unavailable import Unavailable

if TYPE_CHECKING:
    from jaxstage_ext.profiling.timing.timing import Timing


class MeasuredProfile:
    """A call to measure. `inspection` is the Timing, once there is one."""

    def __init__(self, ip: Any, options: Namespace, body: list[ast.stmt], file: str, space: dict[str, Any]) -> None:
        self.ip, self.options, self.file, self.space = ip, options, file, space
        call = profiled_code.single_call(body)
        if call is None:
            raise UsageError("--measure repeats one call; name it on the magic's line or as the cell's last line")
        self.call = call
        self.inspection: Timing | None = None

    async def run(self) -> Any:
        """Measure the call, show its Timing unless --quiet, and give its outputs. Raises what the call raises."""
        from jaxstage_ext.profiling.capture.session_lock import ProfilerBusy

        setup = self._setup()
        if setup is not None:
            setup.prepare()
        fn, args, mappings = await execute(self.ip, calling.parts(self.call), self.file, "eval", self.space)
        name = calling.title(self.call.func)
        kwargs = calling.merged(name, mappings)
        if why := calling.why_not(fn):
            raise UsageError(f"{name} {why}, so there is nothing to measure")
        try:
            outputs, self.inspection = self._measured(fn, args, kwargs, name, setup)
        except ProfilerBusy as error:
            raise UsageError(str(error)) from None
        if not self.options.quiet:
            display(self.inspection)  # type: ignore[no-untyped-call, unused-ignore]
        return outputs

    def _measured(
        self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str, setup: _Setup | None
    ) -> tuple[Any, Timing]:
        from jaxstage_ext.profiling.timing.measure import measured
        from jaxstage_ext.profiling.timing.measured_call import RefusedMeasurement

        options = self.options
        try:
            return measured(
                fn,
                args,
                kwargs,
                mode=options.mode or "auto",
                aggregate=not options.per_kernel,
                setup=setup,
                runs=options.runs,
                title=name,
            )
        except (RefusedMeasurement, Unavailable) as error:
            raise UsageError(str(error)) from None

    def _setup(self) -> _Setup | None:
        text = self.options.setup
        if text is None:
            return None
        text = text[1:-1] if text[:1] == text[-1:] and text[:1] in ("'", '"') else text
        try:
            code = compile(text, "<setup>", "exec")
        except SyntaxError as error:
            raise UsageError(f"--setup: {text!r} is not Python: {error.msg}") from None
        parts = ast.fix_missing_locations(ast.Expression(calling.parts(self.call)))
        return _Setup(lambda: exec(code, self.space), compile(parts, self.file, "eval"), self.space)


class _Setup:
    """Runs the setup code, then evaluates the call's arguments anew."""

    def __init__(self, prepare: Callable[[], None], parts: Any, space: dict[str, Any]) -> None:
        self.prepare, self._parts, self._space = prepare, parts, space

    def __call__(self) -> Any:
        from jaxstage_ext.profiling.timing.measured_call import Arguments

        self.prepare()
        _, args, mappings = eval(self._parts, self._space)
        return Arguments(args, calling.merged("", mappings))
