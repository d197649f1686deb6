"""A folder that compiles a program again with jaxlib alone: what a bug report to XLA needs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from jaxstage_ext.core.reproduction import reproduction, script
from jaxstage_ext.core.reproduction.reproduction import Reproduction
from jaxstage_ext.program.program import Program
from jaxstage_ext.report.text.units import plural


@dataclass(frozen=True)
class Reproducer:
    """A folder with a program's StableHLO, compile options and a script; prints as what it holds."""

    folder: Path
    files: tuple[str, ...]
    """In the folder."""
    notes: tuple[str, ...]
    """How it differs from the program, and what of the user's may be left in it."""

    def __repr__(self) -> str:
        return "\n".join([f"python {self.folder.name}/{script.SCRIPT}", f"holds {', '.join(self.files)}", *self.notes])


def write(program: Program, folder: str | os.PathLike[str]) -> Reproducer:
    """Write a folder that compiles the program again: `python FOLDER/repro.py`. Compiles it in the worker.

    Raises FileExistsError where the folder holds something, OSError where it cannot be written, and what a compile in
    the worker raises.
    """
    path = Path(folder).expanduser()
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{str(path)!r} holds something already; name a folder that is new or empty")
    made = reproduction.reproduction(program.staged)
    files: dict[str, bytes] = {
        script.MODULE: made.module.encode(),
        script.OPTIONS: made.options,
        script.HLO: made.hlo.encode(),
        script.SCRIPT: script.script(made).encode(),
    }
    if made.target.platform == "cuda":
        files[script.DEVICE] = made.device.encode()
    notes = [*_notes(program, made), *_left(files)]
    path.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (path / name).write_bytes(data)
    return Reproducer(path, tuple(files), tuple(notes))


def _notes(program: Program, made: Reproduction) -> list[str]:
    notes = []
    if made.replaced:
        flat = f", {made.flat:,} of them one value each" if made.flat else ""
        hold = "holds" if made.replaced == 1 else "hold"
        notes.append(
            f"{plural(made.replaced, 'constant')} {hold} random values in place of yours{flat}; scalars, small "
            "constants and those of one value are kept."
        )
    if made.kernels:
        hold = "holds" if made.kernels == 1 else "hold"
        notes.append(f"{plural(made.kernels, 'Pallas kernel')} still {hold} names of your functions.")
    if program.has_hlo and (count := made.hlo.count(" = ")) != (own := program.documents["hlo"].text.count(" = ")):
        notes.append(f"Its HLO has {count:,} instructions where the program's has {own:,}.")
    return notes


def _left(files: dict[str, bytes]) -> list[str]:
    """Which files name the user's folders or user name, as paths inside kernels do."""
    places = {str(Path.home()), os.getcwd()} - {"/", "/root"}
    names = [name for name, data in files.items() if any(place.encode() in data for place in places)]
    return [f"{', '.join(names)} still name folders of yours: look before you send it."] if names else []
