"""Options in the text of an environment variable, as XLA splits it, and the files that they name.

XLA splits at white space, and takes a quoted value as a whole (xla/parse_flags_from_env.cc); libtpu knows no quotes. A
text that does not begin with a dash names a file of options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

TOOLKIT = "xla_gpu_cuda_data_dir"
"""Names the folder of an installed CUDA toolkit."""
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|[^\s"'])+""")
_NAMES_A_FILE = re.compile(r"_(?:file|filename|dir|directory|path|results_from|to)$")
_NO_PATH = re.compile(r"true|false|yes|no|-|sponge|[-+]?[\d.]+", re.IGNORECASE)
"""Values that are never paths; XLA dumps to its output with "-", and to a Google service with "sponge"."""
_LISTS = ("xla_gpu_ptx_file", "xla_gpu_llvm_ir_file")
_WRITTEN = re.compile(r"dump|_to$|_dir$|_directory$|kernel_cache_file$|output_file$")


def paths(name: str, value: object) -> list[str]:
    """The paths that an option's value consists of; empty where it is none."""
    if not isinstance(value, str) or not value or not _NAMES_A_FILE.search(name) or _NO_PATH.fullmatch(value):
        return []
    return [part for part in value.split(",") if part] if name in _LISTS else [value]


def is_written(name: str) -> bool:
    """Whether XLA writes what the option names, or creates it, so that it need not exist."""
    return name != TOOLKIT and bool(_WRITTEN.search(name))


def absolute(name: str, value: str) -> str:
    """The value with its paths absolute, from this process's working directory."""
    return ",".join(map(_absolute, given)) if (given := paths(name, value)) else value


def options(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of each option; the name is "" where the value is a file of options."""
    for word in _WORD.findall(text):
        name, _, value = word.lstrip("-").partition("=")
        yield (name, _unquoted(value)) if word.startswith("-") else ("", _unquoted(word))


def with_absolute_paths(text: str, quotes: bool = True) -> str:
    """The text with each path in it absolute, but for one with a space where there are no `quotes`."""

    def changed(word: str) -> str:
        made = _absolute_in(word)
        return made if quotes or not re.search(r"\s", made) else word

    return _WORD.sub(lambda match: changed(match[0]), text)


def _absolute_in(word: str) -> str:
    if not word.startswith("-"):
        return _quoted(_absolute(_unquoted(word)))
    name, equals, value = word.partition("=")
    changed = absolute(name.lstrip("-"), given := _unquoted(value))
    return word if changed == given else f"{name}{equals}{_quoted(changed)}"


def _absolute(path: str) -> str:
    return str(Path.cwd() / path)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _quoted(text: str) -> str:
    return f'"{text}"' if re.search(r"\s", text) else text
