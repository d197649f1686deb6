"""What this process is about to compile, as plain texts with the user's lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from jaxstage_ext.compilation.records.compile_record import Place
from jaxstage_ext.core import jaxpr_lines
from jaxstage_ext.core.jax_private import jax_options, lowered_modules, pending_compile
from jaxstage_ext.core.jax_private.pending_compile import PendingCompile
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.ir.sources.source import FrameTable, cell_of, cells_that_ran
from jaxstage_ext.ir.sources.source_texts import text_now
from jaxstage_ext.processes.arrival import ComparedPart
from jaxstage_ext.processes.flow.value_flow import names_after, value_flow
from jaxstage_ext.processes.program_texts import NO_TEXT, CodePlace, ProgramTexts, StageText
from jaxstage_ext.report.document import Document
from jaxstage_ext.report.text.public_paths import public_path

_MOST_LINES = 40_000
_DEEPEST = 6
"""Lines of a text that are sent, and the user's frames of each."""


def digests(pending: PendingCompile, environment: Mapping[str, str]) -> dict[ComparedPart, str]:
    """Of each part that is compared."""
    surroundings = "\n".join(f"{name}={text}" for name, text in sorted(environment.items()))
    return {
        ComparedPart.ENVIRONMENT: pending_compile.text_digest(surroundings),
        ComparedPart.ORDER: pending.name,
        ComparedPart.DEVICES: pending_compile.text_digest(repr(pending.device_ids)),
        ComparedPart.STABLEHLO: pending.module_digest(),
        ComparedPart.OPTIONS: pending.options_digest(),
    }


def program_texts(
    process: int, pending: PendingCompile, call: Place | None, environment: Mapping[str, str], earlier: Sequence[str]
) -> ProgramTexts:
    """The texts of a program; that of the jaxpr is empty where JAX does not give it, StableHLO's of a mere trace."""
    table, places = FrameTable(), _Places()
    jaxpr = jaxpr_lines.document(pending.jaxpr, table) if pending.jaxpr is not None else None
    module = _module_document(pending, table, jaxpr)
    traced, lowered = places.stage(jaxpr), places.stage(module)
    longest = max(len(each) if each is not None else 0 for each in (jaxpr, module))
    return ProgramTexts(
        process,
        code_place(call.file, call.line) if call is not None else None,
        places.all,
        traced,
        lowered,
        pending.option_texts(),
        environment,
        pending.device_ids,
        earlier,
        longest > _MOST_LINES,
        places.have_sets(),
        jax_options.config_texts(),
    )


def _module_document(pending: PendingCompile, table: FrameTable, jaxpr: Document | None) -> Document | None:
    if pending.module is None:
        return None
    return stablehlo.read(*lowered_modules.texts_of_module(pending.module), table, jaxpr=jaxpr)


def code_place(file: str, line: int) -> CodePlace:
    """A line of the user's code, and what on it can differ by process."""
    lines = text_now(file)
    code = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    flow = value_flow("".join(lines), names_after(_cells()) if cell_of(file) is not None else ())
    return CodePlace(place_label(file), line, code, tuple(flow.suspects(line)))


def _cells() -> tuple[tuple[str, str], ...]:
    """The cells that have run here, in the order of their last runs: (label, source)."""
    return tuple((place_label(file), "".join(text_now(file))) for file in cells_that_ran())


def place_label(file: str) -> str:
    """The file as others may see it, or its cell."""
    return FrameTable().source(file).label if "ipykernel" in file or file.startswith("<") else public_path(file)


class _Places:
    """The lines of the user's code that texts point into, each once."""

    def __init__(self) -> None:
        self.all: list[CodePlace] = []
        self._known: dict[tuple[str, int], int] = {}

    def stage(self, document: Document | None) -> StageText:
        """A document's text with the stack of each line."""
        if document is None:
            return NO_TEXT
        stacks: dict[int, tuple[int, ...]] = {-1: ()}
        made = []
        for frame in document.frame[:_MOST_LINES].tolist():
            if frame not in stacks:
                stacks[frame] = self._stack(document, frame)
            made.append(stacks[frame])
        return StageText(tuple(document.lines[:_MOST_LINES]), tuple(made))

    def _stack(self, document: Document, frame: int) -> tuple[int, ...]:
        frames, stack = document.frames, list[int]()
        while frame >= 0 and len(stack) < _DEEPEST:
            file = frames.files[int(frames.file[frame])]
            if file.user:
                stack.append(self._number(file.name, int(frames.line[frame])))
            frame = int(np.int64(frames.parent[frame]))
        return tuple(stack)

    def have_sets(self) -> bool:
        """Whether the files of these lines, and the cells that ran before, have anything without an order."""
        files = {file for file, _ in self._known}
        cells = cells_that_ran() if any(cell_of(file) is not None for file in files) else ()
        return any(value_flow("".join(text_now(file))).has_sets for file in {*files, *cells})

    def _number(self, file: str, line: int) -> int:
        if (file, line) not in self._known:
            self._known[file, line] = len(self.all)
            self.all.append(code_place(file, line))
        return self._known[file, line]
