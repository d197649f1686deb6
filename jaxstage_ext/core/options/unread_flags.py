"""Flags in XLA_FLAGS that XLA did not read, which reads them once: when JAX first asks for a device."""

from __future__ import annotations

from jaxstage_ext.core.options import flag_values, xla_flags
from jaxstage_ext.worker import flag_text


def unread(text: str) -> dict[str, str]:
    """The flags in a text of XLA_FLAGS that have another value in this process, with that value."""
    if not text:
        return {}
    given, known = dict(flag_text.options(text)), xla_flags.installed().by_name
    wanted = {name: _value(known[name], value) for name, value in given.items() if name in known}
    here = {name: known[name].default or "" for name in wanted if name != flag_text.TOOLKIT}
    return {name: value for name, value in here.items() if wanted[name] not in (None, value)}


def _value(flag: xla_flags.Flag, text: str) -> str | None:
    """A value as `Flag.default` has it; None where it cannot be compared."""
    if flag.type in ("message", "float") or flag.many or flag.default is None:
        return None
    try:
        return str(flag_values.converted(flag, text or "true"))
    except flag_values.OptionError:
        return None


def note(text: str) -> str | None:
    """A sentence about the flags in XLA_FLAGS that have no effect; None where there are none."""
    if not (ignored := unread(text)):
        return None
    values = ", ".join(f"{name} is {value}" for name, value in sorted(ignored.items()))
    return (
        f"XLA_FLAGS was changed after XLA read it, and has no effect in this kernel: {values}. Restart the kernel, or "
        "give the flags as compile options."
    )
