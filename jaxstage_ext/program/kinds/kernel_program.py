"""Programs of which there is no call: what one tab of the panel shows of the kernel itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from jaxstage_ext.core.call import Call
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets.target import LOCAL
from jaxstage_ext.core.targets.worker_requests import USUAL
from jaxstage_ext.program.head.summary_form import FigureSummary
from jaxstage_ext.program.program import Program


class KernelProgram(Program):
    """What one tab shows of the kernel itself, such as its compiles: no call, no stages and no documents.

    Attributes:
      notes: what is to be known about the whole.
    """

    notes: Sequence[str] = ()

    @property
    def own_notes(self) -> Sequence[str]:
        return self.notes

    @property
    def own_signature(self) -> str:
        return self.name

    @property
    def own_title(self) -> str:
        """JAX's version alone: a view of the kernel asks for no device."""
        return f"jax {jax.__version__}"

    def __init__(self, title: str, cell: str | None = None) -> None:
        super().__init__(Staged(Call(_NotCallable(), name=title, cell=cell), [], LOCAL, USUAL))

    def own_figures(self) -> Sequence[FigureSummary]:
        return ()


class _NotCallable:
    """Stands for the function of a program without a call."""

    def __call__(self) -> Any:
        raise ValueError("this is a view of the kernel and has no function to run")
