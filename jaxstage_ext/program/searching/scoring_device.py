"""The device that layouts of a program are scored on, with its links for each mesh."""

from __future__ import annotations

from jaxstage_ext.analysis.collectives.interconnect import DeviceLinks
from jaxstage_ext.analysis.sharding.device_places import DevicePlace
from jaxstage_ext.core.jax_private.lowered_modules import Placed
from jaxstage_ext.core.layout.value_shardings import device
from jaxstage_ext.core.targets import environments, placement
from jaxstage_ext.program.device import program_devices
from jaxstage_ext.program.device.device_figures import device_of
from jaxstage_ext.program.device.target_title import target_platform
from jaxstage_ext.program.program import Program
from jaxstage_ext.search.layout_score import ScoringDevice


def scoring_device(program: Program) -> ScoringDevice:
    """One device of the program's target, in the order in which `jax.make_mesh` would arrange each mesh."""
    known = device_of(program)
    title = known.title if known is not None else str(program.target)
    return ScoringDevice(known, target_platform(program), title, lambda sizes: _links(program, sizes))


def _links(program: Program, sizes: tuple[int, ...]) -> DeviceLinks:
    return program_devices.links(program, _places(program, sizes))


def _places(program: Program, sizes: tuple[int, ...]) -> list[DevicePlace]:
    """The devices of a mesh, row by row."""
    target = program.target
    if target.is_local or target.platform == "cpu":
        return [DevicePlace(number, 0, None, None) for number in range(_product(sizes))]
    environment = program.staged.environment or environments.taken(target.platform)
    placed = Placed(_product(sizes), (), sizes, False)
    order, _ = placement.order(placed, target, program.limits, environment)
    known = [device(one) for one in placement.devices_of(target, program.limits, environment)]
    return [DevicePlace(one.id, one.process, one.coords, one.core) for one in (known[at] for at in order)]


def _product(sizes: tuple[int, ...]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count
