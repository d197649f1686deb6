"""What a process shows of a program when its digest differs: texts with their source lines. Sent then and only then."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from jaxstage_ext.processes.flow.value_origin import Suspect, ValueOrigin


@dataclass(frozen=True)
class CodePlace:
    """A line of the user's code.

    Attributes:
      label: its file as others may see it, or its cell.   line: from 1.   code: its text.
      suspects: what on it, or around it, can be another value in each process; the best evidence first.
    """

    label: str
    line: int
    code: str
    suspects: tuple[Suspect, ...] = ()

    def __str__(self) -> str:
        return f"{self.label}:{self.line}"


@dataclass(frozen=True)
class StageText:
    """A stage's text.

    Attributes:
      lines: its lines.
      stacks: of each line the places that made it, the innermost first, as indices of the `places` of its program.
    """

    lines: Sequence[str]
    stacks: Sequence[Sequence[int]]


NO_TEXT = StageText((), ())


@dataclass(frozen=True)
class ProgramTexts:
    """One program as one process is about to compile it.

    Attributes:
      call: where it is called.   earlier: the names of the programs before it, in their order.
      cut: whether the texts were too long to send, so that their ends are missing.
      config: the entries of `jax.config`, as texts.
      has_sets: whether the source that made it goes through anything whose order differs by process, such as a set.
    """

    process: int
    call: CodePlace | None
    places: Sequence[CodePlace]
    jaxpr: StageText
    stablehlo: StageText
    options: Mapping[str, str]
    environment: Mapping[str, str]
    devices: Sequence[int]
    earlier: Sequence[str]
    cut: bool = False
    has_sets: bool = False
    config: Mapping[str, str] = field(default_factory=dict)

    def packed(self) -> str:
        """Compressed, as text."""
        data = zlib.compress(json.dumps(asdict(self), default=lambda one: one.value).encode())
        return base64.b85encode(data).decode()

    def without_stages(self) -> ProgramTexts:
        """The same without the texts of stages."""
        return replace(self, places=(), jaxpr=NO_TEXT, stablehlo=NO_TEXT, cut=True)

    @staticmethod
    def unpacked(text: str) -> ProgramTexts:
        """The texts of a `packed`."""
        data = json.loads(zlib.decompress(base64.b85decode(text)))
        data["places"] = [_place(place) for place in data["places"]]
        data["call"] = _place(data["call"]) if data["call"] is not None else None
        data["jaxpr"], data["stablehlo"] = StageText(**data["jaxpr"]), StageText(**data["stablehlo"])
        return ProgramTexts(**data)


def _place(data: dict[str, object]) -> CodePlace:
    suspects: object = data["suspects"]
    assert isinstance(suspects, list)
    made = tuple(Suspect(**{**one, "origin": ValueOrigin(one["origin"])}) for one in suspects)
    return CodePlace(str(data["label"]), int(str(data["line"])), str(data["code"]), made)
