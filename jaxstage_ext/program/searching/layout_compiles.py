"""The compiles of a program's layouts, each made once."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from jaxstage_ext.program.program import Program
from jaxstage_ext.program.questions.partitioned import SearchableProgram
from jaxstage_ext.program.searching import layout_confirmation
from jaxstage_ext.program.searching.compiled_exchange import compiled_exchange
from jaxstage_ext.program.searching.layout_call import layout_call
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.search.layout_result import CompiledFigures, CompileEffort
from jaxstage_ext.search.layout_specs import LayoutSpecs


class LayoutCompiles:
    """Compiles layouts of a program, whatever thread asks."""

    def __init__(self, program: Program, searchable: SearchableProgram) -> None:
        self._program, self._searchable = program, searchable
        self._made: dict[tuple[LayoutSpecs, CompileEffort], Program] = {}
        self._lock = threading.Lock()

    def program_of(
        self, specs: LayoutSpecs, effort: CompileEffort, title: str, progress: Progress | None = None
    ) -> Program:
        """The program with a layout, compiled; its error is in it, but an interrupt is raised, and leaves nothing.

        `title` is what the progress calls it.
        """
        with self._lock:
            if (specs, effort) not in self._made:
                call = layout_call(self._program, self._searchable, specs)
                (progress or silent)(0.0, f"compiling {title} at {effort.value} effort")
                made = layout_confirmation.compiled_program(self._program, call, effort)
                if made.error is not None and made.error.interrupted:
                    raise KeyboardInterrupt
                self._made[specs, effort] = made
            return self._made[specs, effort]

    def figures(
        self, specs: LayoutSpecs, effort: CompileEffort, title: str, progress: Progress | None = None
    ) -> CompiledFigures:
        """What a compile of a layout says."""
        effort = layout_confirmation.effort_of(self._program, effort)
        began = time.monotonic()
        made = self.program_of(specs, effort, title, progress)
        found = layout_confirmation.figures(made, effort, began)
        if made.executable is None:
            return found
        return replace(found, parts=compiled_exchange(made, self._searchable.arguments))
