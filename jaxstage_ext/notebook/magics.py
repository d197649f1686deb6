"""The magics of one shell: a line and a cell magic for each stage and for profiles, and line magics."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.display import display

from jaxstage_ext.core.stage import stage_list
from jaxstage_ext.core.stage.stage_definition import COMPILE, LOWER
from jaxstage_ext.notebook.cells.running_cell import RunningCell
from jaxstage_ext.notebook.cells.toplevel_await import await_cells, awaits, drive
from jaxstage_ext.notebook.compile_notice import CompileNotice
from jaxstage_ext.notebook.front_end_target import FrontEndTarget
from jaxstage_ext.notebook.lines import (
    command_line,
    compiles_line,
    dimensions_line,
    line_help,
    profile_line,
    shard_line,
    stage_line,
)
from jaxstage_ext.notebook.lines.command_line import FROM_TOOLBAR, Command
from jaxstage_ext.notebook.lines.completion import completer

if TYPE_CHECKING:
    from jaxstage_ext.notebook.magic_request import MagicRequest

DISPATCH = "dispatch"


@magics_class
class StageMagics(Magics):
    """The magics of one shell. What they do is imported when one is used: `%load_ext` is in most notebooks."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.running_cell = RunningCell(shell)
        self.compile_notice = CompileNotice()
        magics = [
            *map(stage_line.stage_line, stage_list.STAGES),
            profile_line.LINE,
            compiles_line.LINE,
            shard_line.shard_line(),
        ]
        self.lines = {magic.name: magic for magic in magics}
        self.await_cells = await_cells(shell, self.lines, self._python_of)
        self.last_lines: dict[str, dict[str, str]] = {}
        """By stage the last line of its magic, whole, and its options alone."""
        self.front_end = FrontEndTarget(shell, lambda: dict(self.last_lines))
        self.undo = contextlib.ExitStack()
        """What takes the extension out of the shell."""
        flags = {name: list(magic.flags) for name, magic in self.lines.items()}
        self.dimensions_line = dimensions_line.dimensions_line()
        of_calls = {DISPATCH: flags[COMPILE], dimensions_line.NAME: list(self.dimensions_line.flags)}
        self.complete = completer(flags | of_calls, self._names)

    def register(self) -> None:
        """Add the magics to the shell: `%name` and `%%name` of each stage, and the line magics."""
        assert self.shell
        self.shell.register_magics(self)
        for name, asked in self.lines.items():
            magic: Any = self._magic(name)
            magic.__name__, magic.__doc__ = name, asked.help()
            self.shell.magics_manager.register_function(magic, magic_kind="line_cell", magic_name=name)

    def name_for_engines(self, info: Any) -> None:
        """A cell begins: the engines of a job are to call it as this notebook does."""
        if (module := sys.modules.get("jaxstage_ext.notebook.processes_magic")) is not None:
            module.name_running_cell(self.running_cell.number, info.raw_cell)

    def _magic(self, stage: str) -> Callable[..., Any]:
        @no_var_expand
        @needs_local_scope
        def magic(line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
            request = self._request(stage, line)
            work = request.run_line(line, local_ns, _caller()) if cell is None else request.run_cell(line, cell)
            return drive(self.shell, work, awaits(self.shell, self._python_of(stage, line), cell or ""))

        return magic

    @line_magic
    def targets(self, line: str) -> None:
        """List the targets that a program can be compiled for here, and what the others need.

        %targets              the list
        %targets --log tpu    the end of the log of the TPU compile workers, including those that died
        %targets --measure    measure the peaks of this machine's CPU for its rooflines, in a few seconds
        """
        from jaxstage_ext.notebook import measure_magic, staging
        from jaxstage_ext.report.text.public_paths import public_folders

        staging.check_jax()
        if line.split() == ["--measure"]:
            print(measure_magic.ceilings())
            return
        asked_for_log = line.split()[:1] == ["--log"]
        print(public_folders(staging.worker_log(line.split()[1:]) if asked_for_log else staging.survey(line)))

    @line_magic
    @no_var_expand
    @needs_local_scope
    def sharding(self, line: str, local_ns: dict[str, Any] | None = None) -> None:
        from jaxstage_ext.notebook import sharding_magic, staging

        staging.check_jax()
        assert self.shell
        display(sharding_magic.shown(line, {**self.shell.user_ns, **(local_ns or {})}))  # type: ignore[no-untyped-call, unused-ignore]

    sharding.__doc__ = line_help.SHARDING

    @line_magic
    @needs_local_scope
    def timeline(self, line: str, local_ns: dict[str, Any] | None = None) -> Any:
        from jaxstage_ext.notebook import staging, timeline_magic

        staging.check_jax()
        assert self.shell
        return timeline_magic.opened(line, {**self.shell.user_ns, **(local_ns or {})})

    timeline.__doc__ = line_help.TIMELINE

    @line_magic
    @needs_local_scope
    def inspect(self, line: str, local_ns: dict[str, Any] | None = None) -> Any:
        from jaxstage_ext.notebook import inspect_magic

        assert self.shell is not None
        return inspect_magic.opened(line, {**self.shell.user_ns, **(local_ns or {})})

    inspect.__doc__ = line_help.INSPECT

    @line_magic
    @no_var_expand
    @needs_local_scope
    def dispatch(self, line: str, local_ns: dict[str, Any] | None = None) -> Any:
        from jaxstage_ext.notebook import dispatch_magic

        asked = command_line.parse(f"--quiet {line}", self.lines[COMPILE])
        request = dispatch_magic.DispatchRequest(self.shell, self.running_cell, COMPILE, asked)
        work = request.stage_line(line, local_ns, _caller())
        inspections, *_ = drive(self.shell, work, awaits(self.shell, asked.code, ""))
        return dispatch_magic.tables(inspections)

    dispatch.__doc__ = line_help.DISPATCH

    @line_magic
    @no_var_expand
    @needs_local_scope
    def dimensions(self, line: str, local_ns: dict[str, Any] | None = None) -> Any:
        from jaxstage_ext.notebook import dimensions_magic

        asked = command_line.parse(f"--quiet {line}", self.dimensions_line)
        request = dimensions_magic.DimensionsRequest(self.shell, self.running_cell, LOWER, asked)
        work = request.stage_line(line, local_ns, _caller())
        inspections, *_ = drive(self.shell, work, awaits(self.shell, asked.code, ""))
        return dimensions_magic.found(inspections, asked.options.name or ())

    dimensions.__doc__ = dimensions_line.dimensions_line().help()

    @line_magic
    def compile_cache(self, line: str) -> Any:
        from jaxstage_ext.notebook import compile_cache_magic, staging

        staging.check_jax()
        return compile_cache_magic.shown(line)

    compile_cache.__doc__ = line_help.COMPILE_CACHE

    @line_magic
    @no_var_expand
    @needs_local_scope
    def findings(self, line: str, local_ns: dict[str, Any] | None = None) -> Any:
        from jaxstage_ext.notebook import findings_magic, staging

        staging.check_jax()
        assert self.shell
        return findings_magic.shown(line, {**self.shell.user_ns, **(local_ns or {})})

    findings.__doc__ = line_help.FINDINGS

    @line_magic
    @no_var_expand
    def processes(self, line: str) -> Any:
        from jaxstage_ext.notebook import processes_magic, staging

        staging.check_import()
        return processes_magic.run(line, self.shell)

    processes.__doc__ = line_help.PROCESSES

    @line_magic
    @no_var_expand
    def xla_flags(self, line: str) -> None:
        """List the XLA flags of this jaxlib, with their types and their defaults, XLA_FLAGS included.

        %xla_flags               all of them
        %xla_flags cpu fast math those whose names contain all of these words
        """
        from jaxstage_ext.notebook.lines import compile_options
        from jaxstage_ext.report.text.public_paths import public_folders

        print(public_folders(compile_options.table(line.strip())))

    def _names(self, typed: str) -> list[str]:
        """The names, or attributes behind a dot, that a dotted name may go on with; nothing is called for it."""
        of: Any = self.shell and self.shell.Completer
        return of.attr_matches(typed) if "." in typed else of.global_matches(typed)  # type: ignore[no-any-return]

    def run_async(self, stage: str, line: str, cell: str) -> Awaitable[Any]:
        """Run the cell magic for a cell that awaits; the cell's own code awaits the result."""
        return self._request(stage, line).run_cell(line, cell)

    def _request(self, name: str, line: str) -> MagicRequest:
        use = self.shell, self.running_cell, name, command_line.parse(line, self.lines[name])
        if name == compiles_line.NAME:
            from jaxstage_ext.notebook.compiles_request import CompilesRequest

            self.compile_notice.withhold()
            return CompilesRequest(*use)
        self.last_lines[name] = last_line(line, use[-1])
        if name == shard_line.NAME:
            from jaxstage_ext.notebook.shard_request import ShardRequest

            return ShardRequest(self.shell, self.running_cell, LOWER, use[-1])
        if name == profile_line.NAME:
            from jaxstage_ext.notebook.profiles.profile_request import ProfileRequest

            return ProfileRequest(*use)
        if use[-1].options.processes is not False:
            from jaxstage_ext.notebook.several.processes_request import ProcessesRequest

            return ProcessesRequest(*use)
        from jaxstage_ext.notebook.cell_request import Request

        return Request(*use)

    def _python_of(self, stage: str, line: str) -> str:
        """A magic's line without its options."""
        try:
            return command_line.parse(line, self.lines[stage]).code
        except UsageError:
            return ""


def _caller() -> FrameType | None:
    """The frame of the code that holds the magic."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(("IPython.", "jaxstage_ext.")):
        frame = frame.f_back
    return frame


LONGEST = 2000
_OF_ONE_CELL = (
    *("--output", "--args", "--dim", "--in-spec", "--out-spec"),
    *("--static-argnums", "--static-argnames", "--donate-argnums", "--donate-argnames", "--keep-unused"),
)
"""Options that name the functions, arguments or results of one cell."""


def last_line(line: str, asked: Command) -> dict[str, str]:
    """The line, and those of its options that make sense for any cell."""
    given = [option for option in asked.given if option.name != FROM_TOOLBAR]
    options = " ".join(option.text for option in given if option.name not in _OF_ONE_CELL)
    typed = line.replace(FROM_TOOLBAR, "", 1) if len(given) < len(asked.given) else line
    return {"line": typed.strip()[:LONGEST], "options": options if len(options) <= LONGEST else ""}
