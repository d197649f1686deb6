"""`%timeline`: opens saved profiles."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError

from jaxstage_ext.report.text.public_paths import public_text

if TYPE_CHECKING:
    from jaxstage_ext.panel.showing.shown_timeline import ShownTimeline
    from jaxstage_ext.profiling.opening import Source

_USAGE = "%timeline needs a file, for example %timeline run.xplane.pb; %timeline? shows the rest"


@dataclass(frozen=True, eq=False)
class ComparedTimelines:
    """Two timelines in one panel; as text, what grew and what shrank."""

    before: ShownTimeline
    after: ShownTimeline

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxstage_ext.panel.showing import display

        return display.mimebundle([self.before.program, self.after.program])

    def __repr__(self) -> str:
        try:
            return str(self.before.compare(self.after))
        except ValueError as error:  # times that are different quantities
            return f"{self.before!r}\n\n{self.after!r}\n\n{error}"


@dataclass(frozen=True)
class _Asked:
    files: list[str]
    inspection: str | None


def opened(line: str, space: Mapping[str, Any]) -> ShownTimeline | ComparedTimelines:
    """What `%timeline` shows, given the user's namespace. Raises UsageError."""
    asked = _parsed(line)
    if asked.inspection is not None:
        return _linked(asked.files[0], asked.inspection, space)
    first, *others = [_timeline(file, space) for file in asked.files]
    return ComparedTimelines(first, others[0]) if others else first


def _parsed(line: str) -> _Asked:
    try:
        words = shlex.split(line, posix=os.name != "nt")
    except ValueError:
        raise UsageError(f"%timeline {line.strip()}: missing closing quotation mark") from None
    inspection = None
    if "--with" in words:
        at = words.index("--with")
        if len(words) == at + 1:
            raise UsageError("--with needs the name of an Inspection, for example %timeline run.xplane.pb --with ins")
        inspection, words = words[at + 1], words[:at] + words[at + 2 :]
    unknown = next((word for word in words if word.startswith("-")), None)
    if unknown is not None:
        raise UsageError(f"%timeline has no option {unknown}; it has --with")
    if not 1 <= len(words) <= (1 if inspection else 2):
        raise UsageError(_USAGE if not words else f"%timeline takes one file, or two to compare, not {len(words)}")
    return _Asked(words, inspection)


def _timeline(file: str, space: Mapping[str, Any]) -> ShownTimeline:
    from jaxstage_ext.panel.showing import shown_timeline
    from jaxstage_ext.profiling.timeline import Timeline

    known = _source(file, space)
    if isinstance(known, Timeline):
        return known if isinstance(known, shown_timeline.ShownTimeline) else shown_timeline.recorded(known)
    from jaxstage_ext.api import load

    how = load.How((), {})
    found = _read(file, known, lambda source: load.opened(source, "", how))
    if not isinstance(found, shown_timeline.ShownTimeline):
        raise UsageError(f"{file} is not a profile: %inspect {file} opens it")
    return found


def _linked(file: str, name: str, space: Mapping[str, Any]) -> ShownTimeline:
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.panel.showing import shown_timeline
    from jaxstage_ext.profiling import opening
    from jaxstage_ext.profiling.timeline import Timeline
    from jaxstage_ext.program.source import linked_timeline

    inspection = space.get(name)
    if not isinstance(inspection, Inspection):
        what = f"is {type(inspection).__name__}, not an Inspection" if name in space else "is not defined"
        raise UsageError(f"--with {name}: {name!r} {what}; make one with {name} = %compile f(x)")
    known = _source(file, space)
    recording = known.recording if isinstance(known, Timeline) else _read(file, known, opening.open_recording)
    inspection.program.timeline = linked_timeline.linked(recording, inspection.program)
    return shown_timeline.shown(inspection.program)


def _source(file: str, space: Mapping[str, Any]) -> Any:
    """The value of a variable of that name, where there is no such file, or its Timeline; else the path."""
    from jaxstage_ext.api.inspection import Inspection
    from jaxstage_ext.profiling.timeline import Timeline

    value = space.get(file) if file.isidentifier() and not os.path.exists(file) else None
    if isinstance(value, Inspection):
        if value.program.timeline is None:
            raise UsageError(f"{file} was not profiled; %profile -o {file} CALL gives it a timeline")
        return value.program.timeline
    return value if isinstance(value, str | os.PathLike | bytes | Timeline) else file


def _read(file: str, source: Source, read: Any) -> Any:
    try:
        return read(source)
    except OSError as error:
        raise UsageError(f"%timeline {file}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(public_text(" ".join(f"%timeline {file}: {error}".split()))) from None
    except MemoryError:
        raise UsageError(f"%timeline {file}: it is too large for this machine's memory; profile fewer steps") from None
