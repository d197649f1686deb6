"""Compile options on a magic's line, and the table of XLA flags."""

from __future__ import annotations

import textwrap
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from jaxstage_ext.notebook.lines.command_line import Option, listed

if TYPE_CHECKING:
    from jaxstage_ext.core.options.option_sets import OptionSet
    from jaxstage_ext.core.options.xla_flags import Flag

_WIDEST_DEFAULT = 40
_BUILD = (
    ("num_replicas", "1", "Number of replicas. JAX always compiles for one, so anything else is an error."),
    ("num_partitions", "8", "Number of partitions, which must be the number of devices of the program's mesh."),
    ("device_assignment", "0,2,1,3", "Ids of the target's devices to run on, in the order of the program's mesh."),
)
_FILES = {
    "autotune_results": "xla_gpu_load_autotune_results_from",
    "save_autotune_results": "xla_gpu_dump_autotune_results_to",
}


def _level(text: str) -> list[int]:
    if text not in ("0", "1", "2", "3"):
        raise ArgumentTypeError(f"{text!r} is not a level from 0 to 3")
    return [int(text)]


OPTIONS = (
    Option(
        "--xla",
        "XLA flag for this compilation, with or without the xla_ prefix; may be repeated. "
        "A flag that is given twice with different values is compiled with each, side by side. "
        "Tab completes names and values; %%xla_flags lists them.",
        "name=value",
        listed,
        adds=True,
    ),
    Option(
        "-O --optimization-level",
        "Optimization level of XLA's backend, from 0 (none) to 3 (all). Given twice, both are compared.",
        "0..3",
        _level,
        adds=True,
    ),
    *(Option(f"--{name.replace('_', '-')}", what, example) for name, example, what in _BUILD),
    Option("--fdo-profile", "Profile for feedback-directed optimization, as JAX's profiler writes it.", "FILE"),
    Option("--autotune-results", "Choose kernels by the autotune results of a real GPU.", "FILE"),
    Option("--save-autotune-results", "Save the autotune results that XLA measures; needs a GPU.", "FILE"),
)


def read(options: Namespace) -> tuple[OptionSet, ...]:
    """The sets of compile options of a line, checked, as jaxlib takes them; none is empty. Raises UsageError."""
    xla, levels, profile = (getattr(options, name, None) for name in ("xla", "optimization_level", "fdo_profile"))
    named = {name: name for name, *_ in _BUILD} | _FILES
    more = {name: value for option, name in named.items() if (value := getattr(options, option, None)) is not None}
    if xla is None and levels is None and profile is None and not more:
        return ()
    from jaxstage_ext.notebook import staging

    staging.check_jax()
    from jaxstage_ext.core.options.flag_values import OptionError
    from jaxstage_ext.core.options.option_sets import of_line
    from jaxstage_ext.report.text.public_paths import public_folders

    try:
        return of_line(xla or (), levels or (), profile, more)
    except OptionError as error:
        raise UsageError(public_folders(str(error))) from None


def flag_names(start: str) -> list[str]:
    """The names of flags that begin with `start`, with the xla_ prefix only if it was typed."""
    known = _known()
    bare = not "xla_".startswith(start[:4])
    return [name.removeprefix("xla_") if bare else name for name in known if name.startswith("xla_" * bare + start)]


def _known() -> Mapping[str, Flag]:
    """The flags of this jaxlib; none where XLA would not survive its environment."""
    from jaxstage_ext.core.options import environment_check, xla_flags

    try:
        environment_check.check()
    except environment_check.EnvironmentRefused:
        return {}
    return xla_flags.installed().by_name


def flag_values(name: str, start: str) -> list[str]:
    """The values of a bool or enum flag that begin with `start`."""
    known = _known()
    flag = known.get(name) or known.get(f"xla_{name}")
    values = () if flag is None else ("True", "False") if flag.type == "bool" else flag.values
    return [value for value in values if value.lower().startswith(start.lower())]


def table(text: str) -> str:
    """The flags whose names contain all words of the text, with their types and defaults."""
    from jaxstage_ext.notebook import staging

    staging.check_jax()
    from jaxstage_ext.core.options.xla_flags import installed
    from jaxstage_ext.report.text import still_table
    from jaxstage_ext.report.text.still_table import Head, StillTable

    flags = installed()
    if flags.problem:
        raise UsageError(f"{flags.problem}; %compile --xla passes names to XLA unchecked")
    matching = flags.matching(text)
    if not matching:
        raise UsageError(f"none of XLA's {len(flags.by_name)} flags has {text!r} in its name")
    rows = tuple((f.name, f.type + (" list" if f.many else ""), _default(f.default)) for f in matching)
    lines = still_table.lines(StillTable((Head("flag"), Head("type"), Head("default")), rows))
    if len(matching) == 1 and matching[0].values:
        lines += textwrap.wrap(f"values: {', '.join(matching[0].values)}", 100, subsequent_indent="  ")
    return "\n".join(lines)


def _default(text: str | None) -> str:
    if text is None:
        return "unknown"
    return f"{text[: _WIDEST_DEFAULT - 1]}…" if len(text) > _WIDEST_DEFAULT else text or "(empty)"
