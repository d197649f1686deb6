"""What a reader has to know of a program before trusting what is shown."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from wordings import constants

from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.core.options.autotune import Tuned
from jaxstage_ext.core.targets.cross_compile import Executable
from jaxstage_ext.core.targets.target import parse
from jaxstage_ext.program.head import notes as wording

RESULTS: Any = SimpleNamespace(path="h100.pb")
TUNED = Tuned(RESULTS, 4, 4, "H100")


def of(target: str, devices: int, tuned: Tuned | None = None, version: str = "0.12.0") -> list[str]:
    """Of a program that was compiled in a worker, and of which nobody asks whether it fits."""
    where = parse(target)
    made = Executable(where, None, None, 1.0, devices, (), (None, None), (None, None), tuned=tuned, version=version)
    program: Any = SimpleNamespace(target=where, compiled=made, has_hlo=False)
    with patch.object(wording, "_does_not_fit", lambda _: []), patch.object(Tuned, "note", "(its note)"):
        return wording._about_target(program)


def linked(is_optimised: bool, coverage: Any, is_of_file: bool = False) -> list[str]:
    """Of a program of which all else is known."""
    parts = (
        "_isolation",
        "_about_target",
        "_recorded",
        "_unread_flags",
        "_sources",
        "narrowing",
        "deletion",
        "_dumped",
        "_processes",
    )
    program: Any = SimpleNamespace(
        call=SimpleNamespace(layout=None, compiler_options={}), captured=None, old_versions=(), coverage=coverage
    )
    program.is_optimised, program.is_of_file = is_optimised, is_of_file
    program.own_notes = program.recording = program.record = None
    silent = {name: (lambda *_: []) for name in (*parts, "narrowed", "deleted")}
    silent |= {"options_of": lambda _: {}, "platform": lambda _: "cpu"}
    with patch.multiple(wording, **silent), patch.object(wording.cached_lines, "notes", lambda _: []):
        return wording.notes(program)


def dumped(*names: str) -> list[str]:
    with patch.object(wording.stages, "dump_folder", lambda: "/ir"):
        return wording._dumped(SimpleNamespace(staged=SimpleNamespace(dumped=names)))  # type: ignore[arg-type]


def over(count: int) -> list[str]:
    """Of a program whose devices are of so many processes."""
    program: Any = SimpleNamespace(target=parse("local"), jax_lowered=True)
    places = [DevicePlace(number, number) for number in range(count)]
    with (
        patch.object(wording.program_devices.jax, "process_count", lambda: count),
        patch.object(wording.program_devices, "device_places", lambda _: places),
    ):
        return wording._processes(program)


NO_LINKS = SimpleNamespace(total=20, linked=0)
SAID = {
    **constants(wording),
    "a TPU": of("v5e:2x4", 8),
    "a TPU, one device of 8": of("v5e:2x4", 1),
    "a TPU, 1,024 devices of 2,048": of("v5p:8x16x16", 1024),
    "a GPU": of("h100:8", 8),
    "a GPU that the plugin does not know": of("h100:8", 8, version="0.10.2"),
    "a GPU, autotuned": of("h100:8", 8, TUNED),
    "one dumped file": dumped("jax_ir0000_jit_step_compile.mlir"),
    "six dumped files": dumped(*"abcdef"),
    "two processes": over(2),
    "not optimised": linked(False, None),
    "no links": linked(True, NO_LINKS),
    "no links in a file": linked(True, NO_LINKS, is_of_file=True),
}
