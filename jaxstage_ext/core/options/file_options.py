"""Which compile options name files: their contents may change, and what XLA writes there is wanted every time."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jaxstage_ext.worker.process import READ_BY_XLA

_DUMPS = re.compile("dump")
_NAMES_A_FILE = re.compile(r"_(?:file|filename|dir|path|from|to)$")
_TOOLKIT = "xla_gpu_cuda_data_dir"
"""Names a folder, whose contents are those of an installed CUDA toolkit."""


def names_files(options: Mapping[str, Any]) -> bool:
    """Whether one of these options makes XLA read or write a file."""
    return any(_names_file(name, value) for name, value in options.items())


def environment_names_files() -> bool:
    """Whether an option that the environment sets makes XLA read or write a file."""
    return any(_names_file(name, value) for variable in READ_BY_XLA for name, value in _flags(variable))


def _names_file(name: str, value: Any) -> bool:
    if _DUMPS.search(name):
        return True
    return isinstance(value, str) and ("/" in value or bool(value and _NAMES_A_FILE.search(name)))


def _flags(variable: str) -> Iterator[tuple[str, str]]:
    """The options of an environment variable; XLA_FLAGS that do not begin with dashes name a file of options."""
    for word in os.environ.get(variable, "").split():
        name, _, value = word.lstrip("-").partition("=")
        if name != _TOOLKIT:
            yield (name, value) if word.startswith("-") else ("file", word if "/" in word else f"./{word}")
