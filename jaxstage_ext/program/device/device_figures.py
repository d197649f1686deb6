"""The figures of the device that a program runs on, in this machine or not."""

from __future__ import annotations

import jax

from jaxstage_ext.analysis.memory.fit import DeviceMemory
from jaxstage_ext.core.targets import devices, quick_ceilings
from jaxstage_ext.core.targets.devices import Device
from jaxstage_ext.core.targets.machine_ceilings import MachineCeilings
from jaxstage_ext.core.targets.quick_ceilings import NotMeasured
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.device.target_title import device_title, part_used, platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.report import measuring
from jaxstage_ext.report.progress import Progress, silent
from jaxstage_ext.worker import memory_limit


def device_of(program: Program) -> Device | None:
    """The figures of one JAX device: the catalogue's, or those of this machine's CPU; None where there are none."""
    if program.own_device:
        return None
    if not is_for_this_machine(program):
        return devices.share(program.target) if not program.target.is_local else _here()
    measured = measured_ceilings(program)
    return measured.device(_here_of(program)) if isinstance(measured, MachineCeilings) else None


def is_for_this_machine(program: Program) -> bool:
    """Whether a program is held against this machine's CPU, which no catalogue has."""
    if program.own_device or platform(program) != "cpu":
        return False
    return (devices.share(program.target) if not program.target.is_local else _here()) is None


def measured_ceilings(
    program: Program, progress: Progress = silent, waits: bool = False
) -> MachineCeilings | NotMeasured:
    """Those of this machine's CPU that a program is held against, measured where nobody has; else why there are none.

    The first that are known stay the program's, so that each figure of it rests on the same. `progress` and `waits` are
    as in `quick_ceilings.ceilings`.
    """
    kept: MachineCeilings | None = program.results.known(_CEILINGS)
    if kept is not None:
        return kept
    found = quick_ceilings.ceilings(progress, waits, jax.process_count() == 1)
    return program.results.once(_CEILINGS, lambda: found) if isinstance(found, MachineCeilings) else found


_CEILINGS = "ceilings of this machine"


def is_settled(program: Program) -> bool:
    """Whether what is computed now rests on figures that stay: not where the CPU may be measured later."""
    if measuring.is_allowed() or not is_for_this_machine(program):
        return True
    return isinstance(measured_ceilings(program), MachineCeilings)


def ensure_measured(program: Program, progress: Progress, waits: bool = True) -> None:
    """Have the ceilings of a CPU program measured, where nobody has, before something without progress does."""
    if is_for_this_machine(program):
        measured_ceilings(program, progress, waits)


def device_memory(program: Program) -> DeviceMemory:
    """The memory of one JAX device."""
    if program.file_title:
        return DeviceMemory(program.own_device, None, "a file does not say what device it was compiled for")
    if platform(program) == "cpu":
        if (other := _other_process(program)) is not None:
            where = f"the machine of process {other}"
            return DeviceMemory(where, None, f"the memory of {where} is unknown in process {jax.process_index()}")
        return _part_of_this_machine(_here_of(program))
    device, target = device_of(program), program.target
    if target.is_local:
        title = f"one {device.title}" if device else f"one {jax.local_devices()[0].device_kind}"
    else:
        title = f"one {device_title(target)}{part_used(program)}"
    return DeviceMemory(title, device.memory if device else None, f"no memory size on file for {title}")


def _other_process(program: Program) -> int | None:
    """The process whose devices all of a program's are, where that is not this one."""
    if program.jax_lowered is None or not program.target.is_local or jax.process_count() == 1:
        return None
    [process, *others] = {place.process for place in program_devices.device_places(program)} or {None}
    return None if others or process == jax.process_index() else process


def _here_of(program: Program) -> int:
    """How many of a CPU program's devices are this process's: other processes have machines of their own."""
    if not program_devices.of_several_processes(program):
        return program_devices.device_count(program)
    own = [place for place in program_devices.device_places(program) if place.process in (None, jax.process_index())]
    return max(len(own), 1)


def _part_of_this_machine(sharing: int) -> DeviceMemory:
    """The memory of a CPU device: those that a program runs on share the machine's."""
    half = memory_limit.half_of_machine()
    title = "this machine" if sharing == 1 else f"this machine for each of {sharing:,} CPU devices"
    memory = None if half is None else 2 * half // sharing
    return DeviceMemory(title, memory, "the memory of this machine is unknown")


def _here() -> Device | None:
    """The catalogue's figures of one of the kernel's own devices; None where it has none."""
    local = jax.local_devices()
    is_tpu = local[0].platform == "tpu"  # whose chips may have two devices; a GPU's coordinates are a list
    chips = len({tuple(device.coords) for device in local}) if is_tpu else len(local)
    return devices.by_kind(local[0].device_kind, chips / len(local))
