"""`%trace`, `%lower` and `%compile`, each as line and as cell magic, and `%targets`: parse, call, display."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from types import FrameType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, needs_local_scope, no_var_expand
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from jaxstage_ext.notebook import command_line, compile_options, sharding_magic, staging
from jaxstage_ext.notebook.cell_request import Request
from jaxstage_ext.notebook.completion import completer
from jaxstage_ext.notebook.runs import Runs
from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.notebook.toplevel_await import await_cells, awaits, drive

_STOPS = {
    "trace": "Stop after the jaxpr: what JAX made of the Python function.",
    "lower": "Stop after StableHLO: what JAX hands to XLA.",
    "compile": "Go through to the optimised HLO and the executable: what the device runs.",
}
_HELP = """{stop}

The calls to stage come from, in this order: calls on the magic's line, several separated by `;`; the cell's last
line, when it is a call (an assignment is not); --args; annotations such as `Float[Array, "8 128"]`, and defaults.
A staged call is not run. All else in the cell takes effect as in a plain cell.

    %%{name}
    def loss(w, x):
        return jnp.sum(jnp.tanh(x @ w))
    loss(w, x)

    %%{name} loss(w, x); jax.grad(loss)(w, x)
    %{name} model.apply(params, batch)
    %{name} --args "f32[8,128], w=f32[128,512]" loss
    ins = %{name} loss(w, x)

SHAPES are arguments of a call. `f32[8,128]` is an array, `f32[]` a scalar, `key[]` a random key, and `f32[b,128]` has
an axis of --dim; dicts, lists and tuples of these are pytrees; anything else is Python. Named ones go to their
parameters, the others in order to those that are left."""

PARSERS = {name: command_line.parser(name, _HELP.format(name=name, stop=stop)) for name, stop in _STOPS.items()}
compile_options.add_to(PARSERS["compile"])


def _documented(method: Any) -> Any:
    method.__doc__ = PARSERS[method.__name__].format_help()
    return no_var_expand(needs_local_scope(method))


@magics_class
class StageMagics(Magics):
    """The magics of one shell."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.runs = Runs(shell)
        self.await_cells = await_cells(shell, _python_of)
        self.complete = completer({name: _flags(parser) for name, parser in PARSERS.items()})

    @line_cell_magic
    @_documented
    def trace(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        return self._run("trace", line, cell, local_ns)

    @line_cell_magic
    @_documented
    def lower(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        return self._run("lower", line, cell, local_ns)

    @line_cell_magic
    @_documented
    def compile(self, line: str, cell: str | None = None, local_ns: dict[str, Any] | None = None) -> Any:
        return self._run("compile", line, cell, local_ns)

    @line_magic
    def targets(self, line: str) -> None:
        """List what can be compiled for here, what each target is, and what those that cannot be lack.

        %targets              the list
        %targets --log tpu    what the compile workers for TPUs printed last, those that died included
        """
        staging.check_jax()
        print(staging.worker_log(line.split()[1:]) if line.split()[:1] == ["--log"] else staging.survey(line))

    @line_magic
    @no_var_expand
    @needs_local_scope
    def sharding(self, line: str, local_ns: dict[str, Any] | None = None) -> None:
        staging.check_jax()
        assert self.shell
        display(sharding_magic.shown(line, {**self.shell.user_ns, **(local_ns or {})}))  # type: ignore[no-untyped-call, unused-ignore]

    sharding.__doc__ = sharding_magic.HELP

    @line_magic
    @no_var_expand
    def xla_flags(self, line: str) -> None:
        """XLA's flags in this jaxlib, with their types and what holds where nothing is set, XLA_FLAGS included.

        %xla_flags               all of them
        %xla_flags cpu fast math those whose names hold all of these words
        """
        print(compile_options.table(line.strip()))

    def run_async(self, kind: str, line: str, cell: str) -> Awaitable[Any]:
        """The cell magic for a cell that awaits; the cell's code awaits this in its turn."""
        return self._request(kind, line).run_cell(line, cell)

    def _run(self, kind: str, line: str, cell: str | None, local_ns: dict[str, Any] | None) -> Any:
        request = self._request(kind, line)
        work = request.run_line(line, local_ns, _caller()) if cell is None else request.run_cell(line, cell)
        return drive(self.shell, work, awaits(self.shell, _python_of(kind, line), cell or ""))

    def _request(self, kind: str, line: str) -> Request:
        return Request(self.shell, self.runs, kind, command_line.parse(line, PARSERS[kind]))


def _python_of(kind: str, line: str) -> str:
    try:
        return command_line.parse(line, PARSERS[kind]).code
    except UsageError:
        return ""


def _flags(parser: MagicArgumentParser) -> list[str]:
    return [flag for action in parser._actions for flag in action.option_strings]


def _caller() -> FrameType | None:
    """The frame of the code that holds the magic."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(("IPython.", "jaxstage_ext.")):
        frame = frame.f_back
    return frame


def load(ip: Any) -> None:
    """Register the magics, their completion and their settings. Once loaded, a second time does nothing."""
    if "StageMagics" in ip.magics_manager.registry:
        return
    magics = StageMagics(ip)
    ip.register_magics(magics)
    ip.events.register("pre_run_cell", magics.runs.before)
    ip.events.register("post_run_cell", magics.runs.after)
    ip.input_transformers_cleanup.append(magics.await_cells)
    ip.Completer.custom_matchers.append(magics.complete)
    settings = JAXStage.instance(parent=ip)
    ip.configurables.append(settings)


def unload(ip: Any) -> None:
    """Take away all that `load` registered."""
    magics = ip.magics_manager.registry.pop("StageMagics", None)
    if magics is None:
        return
    ip.events.unregister("pre_run_cell", magics.runs.before)
    ip.events.unregister("post_run_cell", magics.runs.after)
    ip.input_transformers_cleanup.remove(magics.await_cells)
    ip.Completer.custom_matchers.remove(magics.complete)
    for name in PARSERS:
        for kind in ("line", "cell"):
            ip.magics_manager.magics[kind].pop(name, None)
    for name in ("targets", "sharding", "xla_flags"):
        ip.magics_manager.magics["line"].pop(name, None)
    ip.configurables[:] = [c for c in ip.configurables if not isinstance(c, JAXStage)]
    JAXStage.clear_instance()
