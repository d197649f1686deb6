"""The still forms of views of the kernel, by the name of their tab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxstage_ext.report.text.markup import Html

if TYPE_CHECKING:
    from jaxstage_ext.program.program import Program


class StillForms(NamedTuple):
    """How a view of the kernel is written as text of so many columns, and as HTML that runs no code."""

    text: Callable[[Any, int], str]
    html: Callable[[Any], Html]


def _compiles_text(program: Any, columns: int) -> str:
    from jaxstage_ext.views.compiled import compile_forms  # it imports JAX

    return compile_forms.text(program.history, columns, program.title, program.notes)


def _compiles_html(program: Any) -> Html:
    from jaxstage_ext.views.compiled import compile_forms  # it imports JAX

    return compile_forms.html(program.history, program.title, program.notes)


def _cache_text(program: Any, columns: int) -> str:
    from jaxstage_ext.views.compiled import compile_cache_forms  # it imports JAX

    return compile_cache_forms.text(program.report, columns)


def _cache_html(program: Any) -> Html:
    from jaxstage_ext.views.compiled import compile_cache_forms  # it imports JAX

    return compile_cache_forms.html(program.report)


def _job_text(program: Any, columns: int) -> str:
    return str(program.still_text())


def _job_html(program: Any) -> Html:
    form: Html = program.still_html()
    return form


FORMS: Mapping[str, StillForms] = {
    "compiles": StillForms(_compiles_text, _compiles_html),
    "compile_cache": StillForms(_cache_text, _cache_html),
    "job_compiles": StillForms(_job_text, _job_html),
}


def forms_of(program: Program) -> StillForms | None:
    """The forms of a view of the kernel; None of a call."""
    return FORMS.get(program.tab)
