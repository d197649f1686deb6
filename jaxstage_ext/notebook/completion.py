"""Tab completion of the magics' options, and of XLA flags after `--xla`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from jaxstage_ext.notebook import compile_options

_XLA = re.compile(r".*\s--xla(?:\s++|=\s*+)(?P<name>[\w-]*+)(?P<value>=\w*+)?$", re.DOTALL)

_BROWSER = re.compile(r"\s*%xla_flags\s++(?:.*\s)?(?P<name>\S*)$")


def completer(options: Mapping[str, Sequence[str]]) -> Any:
    """An IPython matcher for the line of a magic: its options and XLA flags, without any other completions."""
    magic = re.compile(rf"(?:.*=)?\s*%%?({'|'.join(options)})\s")

    @context_matcher(identifier="jaxstage")  # type: ignore[untyped-decorator]
    def complete(context: CompletionContext) -> Any:
        text = context.text_until_cursor
        if listed := _BROWSER.match(text):
            return _completions(compile_options.flag_names(listed["name"]), listed["name"])
        if (line := magic.match(text)) is None:
            return {"completions": []}
        if "--xla" in options[line[1]] and (flag := _XLA.match(text)):
            return _flag(flag["name"], flag["value"])
        if not context.token.startswith("-"):
            return {"completions": []}
        used = set(text.split()[1:-1]) - {"--xla"}
        matching = [o for o in options[line[1]] if o.startswith(context.token) and o not in used]
        return _completions(matching, context.token)

    return complete


def _flag(typed: str, value: str | None) -> Any:
    name = typed.lstrip("-")
    if value is not None:
        return _completions(compile_options.flag_values(name, value[1:]), value[1:])
    dashes = typed[: len(typed) - len(name)]
    return _completions([f"{dashes}{flag}=" for flag in compile_options.flag_names(name)], typed)


def _completions(texts: Sequence[str], fragment: str) -> Any:
    return {
        "completions": [SimpleCompletion(text=text, type="param") for text in texts],
        "matched_fragment": fragment,
        "suppress": bool(texts),
    }
