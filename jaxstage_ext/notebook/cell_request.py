"""One use of a magic: which calls it stages, and what it returns."""

from __future__ import annotations

import ast
import contextlib
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cells import calls as calling
from jaxstage_ext.notebook.cells import last_line, other_calls
from jaxstage_ext.notebook.cells.cell import Cell, execute, run_cell
from jaxstage_ext.notebook.cells.running_cell import RunningCell
from jaxstage_ext.notebook.lines import command_line, compile_options, mesh_arguments, versus
from jaxstage_ext.notebook.lines.arguments import Dims, Given
from jaxstage_ext.notebook.lines.arguments import parse as parse_arguments
from jaxstage_ext.notebook.lines.stage_line import jit_options
from jaxstage_ext.notebook.magic_request import OF_BUTTON, MagicRequest

if TYPE_CHECKING:
    from jaxstage_ext.notebook.cells.stage_object_call import LineOptions
    from jaxstage_ext.notebook.lines.versus import Earlier

_WAYS = (
    "pass the arguments by a call on the magic's line (%%{kind} {name}(...)), a call as the cell's last line, "
    '--args "f32[8,128]", or annotations such as x: Float[Array, "8 128"]'
)
_OTHERWISE = "end the cell with the call to {kind}, or put that call on the magic's line"


class Request(MagicRequest):
    """A magic's line and the calls that it stages. Raises UsageError for a line that cannot be parsed."""

    ways, otherwise = _WAYS, _OTHERWISE
    """What to write where arguments, or the call, are missing."""
    magic = ""
    """The magic's name, where it is not that of its stage."""

    def __init__(self, ip: Any, running_cell: RunningCell, kind: str, asked: command_line.Command) -> None:
        super().__init__(ip, running_cell, kind, asked)
        self.jit = jit_options(asked)
        self.on_line = command_line.expressions(asked.code)
        self.dims = Dims(self.options.dim or ())
        self.option_sets = compile_options.read(self.options)
        self.compiler_options = self.option_sets[0].options if self.option_sets else {}
        self._given: Given | None = None
        self._plan: staging.CompilePlan | None = None
        self._space: dict[str, Any] = ip.user_ns
        if self.magic and getattr(self.options, "processes", False) is not False:
            raise UsageError(f"%{self.magic} asks this kernel; leave out --processes")
        if self.options.run and not stage_list.makes_executable(kind):
            raise UsageError(f"--run needs an executable, and %{kind} does not make one; use %compile --run")

    async def run_cell(self, line: str, cell: str) -> Any:
        """Run the cell, then stage its calls. Returns the value of `--run`."""
        source, typed, on_line = self.placed(line, cell)
        self._check_plan()
        cell_error: BaseException | None = None
        try:
            ran = await run_cell(self.ip, source, self.running_cell.number, typed, cut=not on_line)
        except Exception as error:
            cell_error = error
        if cell_error is not None:
            await self._show_memory_of(cell_error, on_line)
            raise cell_error
        part = None if on_line or self.options.args is not None else await last_line.within(self.ip, ran, self.dims)
        nodes: list[ast.expr] = on_line or (await self._last_calls(ran) if part is None else [*part.calls])
        file = OF_BUTTON if self.from_toolbar and on_line else ran.file
        calls = [await self._stated(node, file, self.ip.user_ns) for node in nodes] or self._defined(ran)
        value = self._stage(calls)[1]
        is_silent = ran.quiet or self.options.quiet
        if part is not None and self.options.run:
            value = await part.run(self.ip, ran.file, value)
        elif part is not None and not is_silent:
            print(part.told(f"%%{self.kind} --run" if stage_list.makes_executable(self.kind) else ""))
        if (ran.calls or part) and not is_silent:
            other_calls.tell(ran, nodes, self.ip.user_ns)
        return None if ran.quiet else value

    async def _show_memory_of(self, cell_error: BaseException, on_line: list[ast.expr]) -> None:
        """Where a statement of the cell ran out of memory, show what the calls on the magic's line need."""
        assert self._plan is not None
        if not stage_list.makes_executable(self.kind) or not on_line or not staging.ran_out(cell_error, self._plan):
            return
        with contextlib.suppress(Exception):  # the cell may not have defined the functions
            calls = [await self._stated(node, "<magic>", self.ip.user_ns) for node in on_line]
            self._bind_all(
                staging.compile_after_failure(self.ip, calls, self.kind, cell_error, self.options.quiet, self._plan)
            )

    def _earlier(self) -> Earlier | None:
        """The inspection that `--vs` names, as it is before the cell runs."""
        text = getattr(self.options, "vs", None)
        return None if text is None else versus.earlier(text, self._space)

    def _check_plan(self) -> None:
        """Before the cell runs, check that the packages of the targets are installed."""
        self._plan = staging.compile_plan(self.kind, self.options, self.option_sets, self._earlier())
        mesh_arguments.check(self.options, self._plan.targets, stage_list.makes_executable(self.kind))

    async def _last_calls(self, ran: Cell) -> list[ast.expr]:
        """The calls of the last line, and an object of JAX's that it names. What else it names is shown as it is.

        With --args, a `print(...)` among them is an ordinary statement, and is run.
        """
        left = []
        if ran.holder is not None:
            await last_line.run_whole(self.ip, ran)
        is_silent = ran.quiet or self.ip.ast_node_interactivity == "none"
        for node in ran.calls:
            if self._is_ordinary(node):
                statement = ast.copy_location(ast.Expr(node), node)
                await execute(self.ip, statement, ran.file, "exec" if is_silent else "single")
            else:
                left.append(node)
        return left

    def _is_ordinary(self, node: ast.expr) -> bool:
        """Whether an expression of the last line is a statement as any other."""
        if isinstance(node, ast.Name):
            value = calling.lookup(node.id, self.ip.user_ns)
            return not (calling.is_given(value) or (self.options.args is not None and calling.is_function(value)))
        fn = getattr(node, "func", None)
        if self.options.args is None or not isinstance(fn, ast.Name):
            return False
        return calling.why_not(calling.lookup(fn.id, self.ip.user_ns)) is not None

    async def run_line(self, line: str, local_ns: dict[str, Any] | None, frame: FrameType | None) -> Any:
        """Stage the calls of a line magic.

        Returns the Inspection where the line is assigned, otherwise the value of `--run`.
        """
        inspections, value, text = await self.stage_line(line, local_ns, frame)
        if self.is_assigned(text):
            return inspections[0] if len(inspections) == 1 else inspections
        return None if line.rstrip().endswith(";") else value

    async def stage_line(
        self, line: str, local_ns: dict[str, Any] | None, frame: FrameType | None
    ) -> tuple[tuple[Any, ...], Any, str]:
        """(an Inspection of each call of a line magic, the value of `--run`, the line of code that holds the magic)."""
        if not self.on_line:
            magic = self.magic or self.kind
            raise UsageError(f"name a call to {self.kind}, for example %{magic} loss(w, x)")
        space = self._space = self.namespace(local_ns)
        staging.check_jax()
        self._check_plan()
        file, text, nodes = self.placed_on(frame, line)
        return *self._stage([await self._stated(node, file, space) for node in nodes]), text

    async def _stated(self, node: ast.expr, file: str, space: dict[str, Any]) -> Call:
        """The Call of an expression, which is a call or a function whose arguments are given otherwise."""
        if not isinstance(node, ast.Call):
            fn, name = await execute(self.ip, node, file, "eval", space), calling.title(node)
            self._check(fn, name)
            try:
                return self._known(fn, name, space)
            except calling.NoArguments as reason:
                raise UsageError(f"{reason}; {self.ways.format(kind=self.kind, name=name)}") from None
        name = calling.title(node.func)
        if self.options.args is not None:
            raise UsageError(f"--args and {name}(...) both give arguments; drop one of them")
        fn, args, mappings = await execute(self.ip, calling.parts(node), file, "eval", space)
        self._check(fn, name)
        kwargs = calling.merged(name, mappings)
        if calling.makes_stage_object(fn):
            fn, args, kwargs = self._made(fn, args, kwargs), (), {}
        return self._call(fn, args, kwargs, name)

    def _made(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `jax.jit(f).lower`, `export(f)` and the like return. Raises what they raise, as in an ordinary cell."""
        failure: BaseException | None = None
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            failure = error
        raise staging.without_our_frames(self.ip, failure)

    def _defined(self, ran: Cell) -> list[Call]:
        """The calls of the functions that the cell defines."""
        space = self.ip.user_ns
        functions = {name: used for name, used in ran.functions.items() if calling.is_function(space.get(name))}
        if not functions:
            raise UsageError(f"nothing to {self.kind} in this cell; {self.otherwise.format(kind=self.kind)}")
        calls: list[Call] = []
        refused: list[str] = []
        hints: list[str] = []
        unknown: dict[str, str] = {}
        roots = calling.roots(functions)
        for name in functions if self.options.args is None else roots:
            if why := calling.why_not(space[name]):
                refused += [f"{name} {why}"] if name in roots else []
                continue
            try:
                calls.append(self._known(space[name], name, space))
            except calling.NoArguments as reason:
                if name not in roots:
                    continue
                if hint := other_calls.hint(ran, name):
                    hints.append(hint)
                else:
                    unknown[name] = str(reason)
        if unknown or refused or hints:
            ways = [self.ways.format(kind=self.kind, name=name) for name in list(unknown)[:1]]
            if not (calls or unknown or hints):
                ways.append(self.otherwise.format(kind=self.kind))
            message = "; ".join([*hints, *refused, *unknown.values(), *ways])
            if not calls:
                raise UsageError(message)
            print(message)
        return calls

    def _known(self, fn: Any, name: str, space: dict[str, Any]) -> Call:
        if calling.is_given(fn):
            return self._call(fn, (), {}, name)
        if self.options.args is not None and self._given is None:
            self._given = parse_arguments(self.options.args, space, self.dims)
        args, kwargs = calling.arguments(fn, name, self._given, self.dims)
        return self._call(fn, args, kwargs, name)

    def _check(self, fn: Any, name: str) -> None:
        if why := calling.why_not(fn):
            raise UsageError(f"{name} {why}, so it cannot be staged; {self.otherwise.format(kind=self.kind)}")

    def _call(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Call:
        assert self._plan is not None
        if calling.is_given(fn):
            from jaxstage_ext.notebook.cells import stage_object_call

            return stage_object_call.call_of(fn, args, kwargs, self._line_options())
        args, kwargs = self._sized(args, kwargs)
        layout = mesh_arguments.read(
            self.options, self._space, self._plan.targets, stage_list.makes_executable(self.kind)
        )
        return mesh_arguments.checked(
            Call(fn, args, kwargs, name, self.jit, self.running_cell.label, self.compiler_options, layout)
        )

    def _sized(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, whose symbolic axes have the sizes of `--dim`."""
        from jaxstage_ext.core.given import symbolic

        if not self.dims:
            return args, kwargs
        return symbolic.with_sizes(args, self.dims), symbolic.with_sizes(kwargs, self.dims)

    def _line_options(self) -> LineOptions:
        from jaxstage_ext.notebook.cells.stage_object_call import LineOptions

        has_mesh = any(given is not None for given in (self.options.mesh, self.options.in_spec, self.options.out_spec))
        return LineOptions(self.kind, self.running_cell.label, self.dims, self.compiler_options, self.jit, has_mesh)

    def _stage(self, calls: list[Call]) -> tuple[tuple[Any, ...], Any]:
        """The Inspections and the value of `--run`. Binds `-o`, then raises the error that stopped a stage."""
        self.dims.check_used()
        if self.options.run:
            staging.check_values(calls)
        assert self._plan is not None
        if self._plan.earlier is not None and len(calls) > 1:
            raise UsageError(f"--vs compares one call, and there are {len(calls)}: {', '.join(c.name for c in calls)}")
        inspections, failure = staging.stage(self.ip, calls, self.kind, self.options.quiet, self._plan)
        self._bind_all(inspections)
        if failure is not None:
            raise failure
        return inspections, staging.execute(self.ip, inspections) if self.options.run else None

    def _bind_all(self, inspections: tuple[Any, ...]) -> None:
        self.bind(inspections[0] if len(inspections) == 1 else inspections)
