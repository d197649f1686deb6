"""A call as its author would write it: `step(params, x, n=n)`."""

from __future__ import annotations

from collections.abc import Mapping

from jaxstage_ext.compilation.causes.argument_paths import arguments
from jaxstage_ext.compilation.records.call_parameters import call_parameters
from jaxstage_ext.compilation.records.compile_record import CompileRecord


def call_text(record: CompileRecord, keyword: Mapping[str, bool]) -> str:
    """A call with its parameters' names for arguments.

    Args:
      record: of the call.
      keyword: of some arguments whether they are to be given by keyword; the others are given as they were.
    """
    known = call_parameters(record.function)
    statics = (
        [value.name for value in record.signature.statics if value.name.isidentifier()] if record.signature else []
    )
    by_keyword = set(record.signature.keywords if record.signature else ())
    forms: dict[str, bool] = {argument.name: argument.by_keyword for argument in arguments(record)}
    forms |= {name: name in by_keyword for name in statics}
    forms |= keyword
    order = [name for name in known.order if name in forms] + [name for name in forms if name not in known.order]
    words, is_late = [], False
    for name in order:
        is_late = forms[name] or (is_late and known.may_be_keyword(name))
        words.append(f"{name}={name}" if is_late else name)
    name = record.name if record.name.isidentifier() else "fn"
    return f"{name}({', '.join(words)})"
