"""Answers of a notebook's pictures, asked in its kernel by one cell at its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

MARK = "answers of pictures: "


def asking(expressions: Mapping[str, str]) -> str:
    """The source of a cell that prints the value of each expression, by its name."""
    lines = [f"    {name!r}: str({expression})," for name, expression in expressions.items()]
    return "\n".join(["import json", f"print({MARK!r} + json.dumps({{", *lines, "}))"])


def read_answers(outputs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The answers by their names, from what that cell left. Raises ValueError where it failed."""
    text = "".join("".join(one.get("text", "")) for one in outputs)
    if MARK not in text:
        raise ValueError(f"the notebook gave no answers:\n{json.dumps(outputs)[-3000:]}")
    answers: dict[str, str] = json.loads(text.split(MARK)[1].splitlines()[0])
    return {name: " ".join(answer.split()) for name, answer in answers.items()}
