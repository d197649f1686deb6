"""Compile options on a magic's line, and the table of XLA's flags."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from jaxstage_ext.notebook import staging

_WIDEST_DEFAULT = 40
_BUILD = (
    ("num_replicas", "1", "Replicas that the program must have; JAX makes one."),
    ("num_partitions", "8", "Partitions that the program must have; JAX makes as many as its mesh has devices."),
    ("device_assignment", "0,2,1,3", "Ids of the target's devices that the program runs on, in the order of its mesh."),
)
_FILES = {
    "autotune_results": "xla_gpu_load_autotune_results_from",
    "save_autotune_results": "xla_gpu_dump_autotune_results_to",
}


def add_to(parser: MagicArgumentParser) -> None:
    """The options of `%compile` that reach XLA."""
    add = parser.add_argument
    add(
        "--xla",
        action="append",
        metavar="name=value",
        help="Set an XLA flag for this compilation, with or without xla_ in front; may be repeated. "
        "Tab completes names and values; %%xla_flags lists them.",
    )
    add("-O", "--optimization-level", type=_level, metavar="0..3", help="Of XLA's backend: 0 is none, 3 all.")
    for name, example, what in _BUILD:
        add(f"--{name.replace('_', '-')}", metavar=example, help=what)
    add("--fdo-profile", metavar="FILE", help="Profile for feedback-directed optimisation, as JAX records one.")
    add("--autotune-results", metavar="FILE", help="Choose kernels by what was measured on a real GPU.")
    add("--save-autotune-results", metavar="FILE", help="Record what XLA measures, where there is a GPU.")


def _level(text: str) -> int:
    if text not in ("0", "1", "2", "3"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a level from 0 to 3")
    return int(text)


def read(options: argparse.Namespace) -> dict[str, Any]:
    """What was given, checked, as jaxlib takes it. Raises UsageError."""
    xla, level, profile = (getattr(options, name, None) for name in ("xla", "optimization_level", "fdo_profile"))
    named = {name: name for name, *_ in _BUILD} | _FILES
    more = {name: value for option, name in named.items() if (value := getattr(options, option, None)) is not None}
    if xla is None and level is None and profile is None and not more:
        return {}
    staging.check_jax()
    from jaxstage_ext.core.options.flag_values import OptionError, build

    try:
        return build(xla or (), level, profile, more)
    except OptionError as error:
        raise UsageError(str(error)) from None


def flag_names(start: str) -> list[str]:
    """Names of flags that begin so, as typed with or without xla_; of one that is spelled out, with its values."""
    from jaxstage_ext.core.options.xla_flags import installed

    known = installed().by_name
    bare = not "xla_".startswith(start[:4])
    return [name.removeprefix("xla_") if bare else name for name in known if name.startswith("xla_" * bare + start)]


def flag_values(name: str, start: str) -> list[str]:
    """Values of a flag that begin so, where its type has few."""
    from jaxstage_ext.core.options.xla_flags import installed

    known = installed().by_name
    flag = known.get(name) or known.get(f"xla_{name}")
    values = () if flag is None else ("True", "False") if flag.type == "bool" else flag.values
    return [value for value in values if value.lower().startswith(start.lower())]


def table(text: str) -> str:
    """The flags whose names hold all words of the text: name, type and what holds where nothing is set."""
    staging.check_jax()
    from jaxstage_ext.core.options.xla_flags import installed

    flags = installed()
    if flags.problem:
        raise UsageError(f"{flags.problem}; %compile --xla leaves names to XLA")
    found = flags.matching(text)
    if not found:
        raise UsageError(f"none of XLA's {len(flags.by_name)} flags has {text!r} in its name")
    rows = [("flag", "type", "default")]
    rows += [(f.name, f.type + (" list" if f.many else ""), _default(f.default)) for f in found]
    wide = [max(len(row[i]) for row in rows) for i in range(2)]
    lines = [f"{name:{wide[0]}}  {kind:{wide[1]}}  {default}".rstrip() for name, kind, default in rows]
    if len(found) == 1 and found[0].values:
        lines += textwrap.wrap(f"values: {', '.join(found[0].values)}", 100, subsequent_indent="  ")
    return "\n".join(lines)


def _default(text: str | None) -> str:
    if text is None:
        return "not known"
    return f"{text[: _WIDEST_DEFAULT - 1]}…" if len(text) > _WIDEST_DEFAULT else text or "(empty)"
