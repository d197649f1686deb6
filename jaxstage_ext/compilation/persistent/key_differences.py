"""How two keys of the persistent cache differ, as values: flags and options by name, StableHLO by its text."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from jaxstage_ext.compilation.persistent import flag_watch
from jaxstage_ext.compilation.persistent.key_record import KeyRecord
from jaxstage_ext.core.jax_private import cache_key_parts, jax_options
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart
from jaxstage_ext.core.options import xla_flags

MOST_LINES = 200
"""Lines of the diff of two StableHLO texts that are kept."""
_OPERATION = re.compile(r"^\s*(?:%[\w:, %#]+ = )?\"?([a-z_]+\.[\w.]+)", re.MULTILINE)
_DONATED = re.compile(r",? ?(?:tf\.aliasing_output|jax\.buffer_donor) = [^,}]+")
_NAMES = re.compile(r"%arg\d+: |,? ?jax\.result_info = \"[^\"]*\"")
_EMPTY = re.compile(r" ?\{ *\}")
_MAIN, _BODY = "func.func public @main(", " {"

Parts = Mapping[KeyPart, tuple[bytes, ...]]


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """One value in which two keys differ."""

    part: KeyPart
    what: str
    """The flag, the option, or "signature", "donation", "ops", "text", "attributes" of StableHLO."""
    before: str = ""
    now: str = ""
    """`before`, `now`: the values; "" where there was none."""
    diff: tuple[str, ...] = ()
    """Lines of a unified diff of StableHLO."""


def differing_parts(before: Parts, now: Parts) -> tuple[KeyPart, ...]:
    """The parts that differ, in the key's order."""
    return tuple(part for part in KeyPart if b"".join(before[part]) != b"".join(now[part]))


def differences(before: KeyRecord, now: KeyRecord) -> tuple[KeyDifference, ...]:
    """All values in which two keys differ."""
    listed: list[KeyDifference] = []
    for part in differing_parts(before.parts, now.parts):
        listed += _of_part(part, before, now)
    return tuple(listed)


def _of_part(part: KeyPart, before: KeyRecord, now: KeyRecord) -> list[KeyDifference]:
    was, is_now = before.parts[part], now.parts[part]
    if part is KeyPart.COMPUTATION:
        return _of_stablehlo(b"".join(was), b"".join(is_now))
    if part is KeyPart.FLAGS:
        return [KeyDifference(part, *change) for change in flag_watch.changes(was, is_now)]
    if part is KeyPart.OPTIONS:
        return _of_options(b"".join(was), b"".join(is_now), before.jaxlib == now.jaxlib)
    if part is KeyPart.DEVICES:
        return [KeyDifference(part, part.value, *_device_words(before.devices, now.devices))]
    if part is KeyPart.BACKEND:
        return [KeyDifference(part, part.value, _text(was, " "), _text(is_now, " "))]
    return [KeyDifference(part, part.value, _text(was), _text(is_now))]


def _device_words(before: str, now: str) -> tuple[str, str]:
    return (before, now) if before != now else (before, f"{now}, another topology")


def _text(pieces: tuple[bytes, ...], between: str = "") -> str:
    return between.join(piece.decode("utf-8", "replace") for piece in pieces)


def _of_options(before: bytes, now: bytes, same_jaxlib: bool) -> list[KeyDifference]:
    unknown = [KeyDifference(KeyPart.OPTIONS, KeyPart.OPTIONS.value)]
    if not same_jaxlib:  # their defaults differ too, and one of them cannot be decoded here
        return unknown
    try:
        was, is_now = option_values(before), option_values(now)
    except Exception:  # of a jaxlib that is not this process's
        return unknown
    names = sorted(was.keys() | is_now.keys())
    listed = [
        KeyDifference(KeyPart.OPTIONS, name, was.get(name, ""), is_now.get(name, ""))
        for name in names
        if was.get(name) != is_now.get(name)
    ]
    return listed or unknown


def option_values(options: bytes) -> dict[str, str]:
    """Every option by name: JAX's own, those set by the user, and XLA's flags as they were when it was compiled."""
    flags = xla_flags.read(jax_options.xla_library(), options).by_name.values()
    named = {flag.name: flag.default for flag in flags if flag.default not in (None, xla_flags.UNSET)}
    return {name: value for name, value in named.items() if value} | cache_key_parts.option_fields(options)


def _of_stablehlo(before: bytes, now: bytes) -> list[KeyDifference]:
    part = KeyPart.COMPUTATION
    try:
        was, is_now = cache_key_parts.stablehlo_text(before), cache_key_parts.stablehlo_text(now)
    except ValueError:
        return [KeyDifference(part, "text")]
    listed = _of_main(was, is_now)
    ops = _counts(was), _counts(is_now)
    if ops[0] != ops[1]:
        listed.append(KeyDifference(part, "ops", _count_words(*ops), _count_words(*ops[::-1])))
    diff = _diff(was, is_now)
    if diff or not listed:
        listed.append(KeyDifference(part, "text", diff=diff))
    return listed


def _of_main(before: str, now: str) -> list[KeyDifference]:
    was, is_now = _signature(before), _signature(now)
    if was == is_now:
        return []
    part, bare = KeyPart.COMPUTATION, (_without_names(was), _without_names(is_now))
    if bare[0] != bare[1]:
        return [KeyDifference(part, "signature", *bare)]
    donated = _donations(was), _donations(is_now)
    return [KeyDifference(part, "donation", *donated)] if _DONATED.findall(was) != _DONATED.findall(is_now) else []


def _signature(text: str) -> str:
    start = text.find(_MAIN)
    end = text.find("\n", start)
    return text[start + len(_MAIN) - 1 : end].removesuffix(_BODY) if start >= 0 else ""


def _without_names(signature: str) -> str:
    """A signature without donation, the names of arguments and results, and the braces that are left empty."""
    return _EMPTY.sub("", _NAMES.sub("", _DONATED.sub("", signature)))


def _donations(signature: str) -> str:
    count = len(_DONATED.findall(signature))
    return f"{count} donated" if count else "none donated"


def _counts(text: str) -> Counter[str]:
    return Counter(_OPERATION.findall(text))


def _count_words(mine: Counter[str], other: Counter[str]) -> str:
    return ", ".join(f"{mine[op]} {op}" for op in sorted(mine.keys() | other.keys()) if mine[op] != other[op])


def _diff(before: str, now: str) -> tuple[str, ...]:
    """The lines that differ, cut; long texts are compared from their first different line on."""
    was, is_now = before.splitlines(), now.splitlines()
    same = 0
    for mine, other in zip(was, is_now, strict=False):
        if mine != other:
            break
        same += 1
    start = max(0, same - 2)
    window = slice(start, same + 10 * MOST_LINES)
    lines = difflib.unified_diff(was[window], is_now[window], n=2, lineterm="")
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))[:MOST_LINES]
