"""Options of the magics on Tab."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher


def completer(options: Mapping[str, Sequence[str]]) -> Any:
    """An IPython matcher: the options of the magic whose line is being typed, and then nothing else."""
    magic = re.compile(rf"(?:.*=)?\s*%%?({'|'.join(options)})\s")

    @context_matcher(identifier="jaxstage")  # type: ignore[untyped-decorator]
    def complete(context: CompletionContext) -> Any:
        line = magic.match(context.text_until_cursor)
        if line is None or not context.token.startswith("-"):
            return {"completions": []}
        used = set(context.text_until_cursor.split()[1:-1])
        found = [o for o in options[line[1]] if o.startswith(context.token) and o not in used]
        return {
            "completions": [SimpleCompletion(text=option, type="param") for option in found],
            "matched_fragment": context.token,
            "suppress": bool(found),
        }

    return complete
