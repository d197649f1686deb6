"""What holds device memory, as `jax.profiler.save_device_memory_profile` writes it: a profile in pprof's form.

Form: https://github.com/google/pprof/blob/main/proto/profile.proto
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from google.protobuf.message import DecodeError

from jaxstage_ext.ir.sources import source
from jaxstage_ext.ir.wire.proto_messages import BYTES, INT64, Fields, build
from jaxstage_ext.profiling.unreadable import UnreadableProfile
from jaxstage_ext.report.table import Column, Table
from jaxstage_ext.report.text.units import plural, scaled

_BEGINS = re.compile(
    rb"(?:\x0a\x04\x08[\x00-\x7f]\x10[\x00-\x7f]|\x0a\x02\x08[\x00-\x7f]){1,8}[\x0a\x12\x1a\x22\x2a\x32]"
)
_MESSAGES: dict[str, Fields] = {
    "ValueType": {"type": (1, INT64, False), "unit": (2, INT64, False)},
    "Label": {"key": (1, INT64, False), "str": (2, INT64, False), "num": (3, INT64, False)},
    "Sample": {"location_id": (1, INT64, True), "value": (2, INT64, True), "label": (3, "Label", True)},
    "Line": {"function_id": (1, INT64, False), "line": (2, INT64, False)},
    "Location": {"id": (1, INT64, False), "line": (4, "Line", True)},
    "Function": {"id": (1, INT64, False), "name": (2, INT64, False), "filename": (4, INT64, False)},
    "Profile": {
        "sample_type": (1, "ValueType", True),
        "sample": (2, "Sample", True),
        "location": (4, "Location", True),
        "function": (5, "Function", True),
        "string_table": (6, BYTES, True),
    },
}
[_Profile] = build(_MESSAGES, "Profile")
_NO_LINE = "no line of your code is on its stack"


def is_pprof(head: bytes) -> bool:
    """Whether a file that begins so, unpacked, is a profile of pprof's."""
    return _BEGINS.match(head) is not None


def table(data: bytes, title: str) -> Table:
    """A row for each place that holds memory, the largest first. Raises UnreadableProfile for another profile."""
    try:
        profile: Any = _Profile.FromString(data)
        names = [text.decode("utf-8", "replace") for text in profile.string_table]
        kinds = [names[kind.type] for kind in profile.sample_type]
        units = [names[kind.unit] for kind in profile.sample_type]
        if "bytes" not in units:
            measured = ", ".join(kinds) or "nothing"
            raise UnreadableProfile(f"{title} is a pprof profile of {measured}, not of device memory; pprof opens it")
        rows = [_row(profile, sample, names, units.index("bytes")) for sample in profile.sample]
    except (DecodeError, IndexError, KeyError):
        raise UnreadableProfile(f"{title} is a damaged pprof profile; write it once more") from None
    rows.sort(key=lambda row: -row[0])
    columns = {
        "bytes": Column([row[0] for row in rows], "B", "that are held"),
        "count": Column([row[1] for row in rows], "", "buffers or executables"),
        "kind": Column([row[2] for row in rows]),
        "device": Column([row[3] for row in rows]),
        "line": Column([row[4] for row in rows], "", "of your code that made them"),
        "function": Column([row[5] for row in rows], "", "innermost on the stack"),
    }
    unknown = {(at, "line"): _NO_LINE for at, row in enumerate(rows) if row[4] is None}
    unknown |= {(at, "device"): "an executable is of no single device" for at, row in enumerate(rows) if row[3] is None}
    total = f"{scaled(sum(row[0] for row in rows), 'B')} on devices, in {plural(len(rows), 'place')}."
    return Table("device_memory", columns, unknown, (total,))


_Row = tuple[int, int, str, str | None, str | None, str]


def _row(profile: Any, sample: Any, names: Sequence[str], size: int) -> _Row:
    labels = {names[label.key]: names[label.str] if label.str else str(label.num) for label in sample.label}
    counts = [value for at, value in enumerate(sample.value) if at != size]
    stack = _stack(profile, sample, names)
    users = [(file, line) for _, file, line in stack if line and source.is_user(file) and not source.is_outside(file)]
    line = f"{PurePath(users[0][0]).name}:{users[0][1]}" if users else None
    function = next((name for name, file, _ in stack if file), stack[0][0] if stack else "")
    return sample.value[size], counts[0] if counts else 1, labels.get("kind", ""), labels.get("device"), line, function


def _stack(profile: Any, sample: Any, names: Sequence[str]) -> list[tuple[str, str, int]]:
    """(function, file, line) of a sample's frames, innermost first."""
    places = {location.id: location for location in profile.location}
    functions = {function.id: function for function in profile.function}
    lines = [line for number in sample.location_id for line in places[number].line]
    found = [(functions[line.function_id], line.line) for line in lines if line.function_id in functions]
    return [(names[function.name], names[function.filename], line) for function, line in found]
