"""One use of `%%shard`: the call whose layouts it searches."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.display import display

from jaxstage_ext.core.call import Call
from jaxstage_ext.notebook import staging
from jaxstage_ext.notebook.cell_request import Request
from jaxstage_ext.notebook.failures import in_one_line
from jaxstage_ext.notebook.lines import mesh_arguments, shard_line

if TYPE_CHECKING:
    from jaxstage_ext.api.find_shardings import ShardingSearch
    from jaxstage_ext.program.searching.search_limits import FixedChoices

_KEPT = re.compile(r"\s*([^\W\d]\w*)\s*[:=]\s*(.+)", re.DOTALL)


class ShardRequest(Request):
    """The calls of `%%shard`, whose layouts are searched one call after the other."""

    magic = shard_line.NAME
    ways = (
        f"write the call with its arguments, such as %{shard_line.NAME} -t v5e:2x4 {{name}}(...), or "
        '--args "f32[8,128]"'
    )
    otherwise = f"end the cell with the call, or write %{shard_line.NAME} -t v5e:2x4 step(params, batch)"

    def _stage(self, calls: list[Call]) -> tuple[tuple[Any, ...], Any]:
        """The searches. Binds `-o`."""
        self.dims.check_used()
        searches = tuple(self._searched(call) for call in calls)
        self._bind_all(searches)
        if not self.options.quiet:
            for search in searches:
                display(search)  # type: ignore[no-untyped-call, unused-ignore]
        return searches, None

    def _searched(self, call: Call) -> ShardingSearch:
        from jaxstage_ext.api.find_shardings import call_shardings
        from jaxstage_ext.program.searching.program_search import SearchBudget

        plan = self._plan
        assert plan is not None
        if len(plan.targets) > 1:
            raise UsageError(f"%{shard_line.NAME} searches for one target, and there are {len(plan.targets)}; name one")
        budget = SearchBudget(self.options.budget, seed=self.options.seed)
        told = _nothing if self.options.quiet else _progress_line()
        try:
            wanted = self.options.confirm, self.options.effort
            return call_shardings(call, plan.targets[0], self._fixed(call), budget, wanted, told, plan.limits)
        except BaseException as error:
            failure = self._failure(error)
        raise failure

    def _failure(self, error: BaseException) -> BaseException:
        """What to raise: a user's mistake is one line, and what a stage raises is shown as `%lower` shows it."""
        if isinstance(error, ValueError) and type(error).__module__.startswith("jaxstage_ext"):
            return UsageError(str(error))
        inspection = getattr(error, "inspection", None)
        if inspection is not None:
            return staging.shown_failure(self.ip, inspection, self.options.quiet) or error
        return in_one_line(error, "before any layout was estimated") if isinstance(error, KeyboardInterrupt) else error

    def _fixed(self, call: Call) -> FixedChoices:
        from jaxstage_ext.program.searching.search_limits import FixedChoices

        is_own = bool(self.options.in_spec)
        mesh = call.layout.mesh if call.layout is not None and not is_own else None
        keep = dict(self._kept(text) for text in self.options.keep or ())
        return FixedChoices(mesh, keep, not self.options.no_replication, self.options.axes)

    def _kept(self, text: str) -> tuple[str, Any]:
        match = _KEPT.fullmatch(text)
        if match is None:
            raise UsageError(f"--keep {text!r} is not an argument and its spec, such as \"x: P('data')\"")
        return match[1], mesh_arguments.spec("--keep", match[2], self._space)


def _nothing(seconds: float, step: str | None = None) -> None:
    pass


def _progress_line() -> Callable[..., None]:
    """A line below the cell that says how far the search is, with the best layout so far."""
    shown: Any = display({"text/plain": "searching layouts…"}, raw=True, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]

    def told(seconds: float, step: str | None = None) -> None:
        if step and shown is not None:
            shown.update({"text/plain": f"{step} ({seconds:.0f} s)"}, raw=True)

    return told
