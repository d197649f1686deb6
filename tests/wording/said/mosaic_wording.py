"""On-device profiles."""

from dataclasses import replace

from mosaic_buffers import TrueRange, TrueTrace, written
from wordings import constants

from jaxstage_ext.profiling.mosaic import mosaic_wording
from jaxstage_ext.profiling.mosaic.mosaic_kernels import KernelClock
from jaxstage_ext.profiling.mosaic.mosaic_recording import FACTS, decode
from jaxstage_ext.profiling.mosaic.mosaic_spec import MosaicSpec

WORDS = written([TrueTrace(100, 4, (TrueRange(1, 1_000, 3_000, (TrueRange(0, 1_100, 1_400),)),))], 16)
SPEC = MosaicSpec(16, ("load", "mma"), (1,), (128,), kernel="scale")
MADE = decode(WORDS, SPEC, sm_clock=1.98e9)
FACTS_OF = MADE.device_facts[FACTS]


def placed(**facts: object) -> tuple[str, ...]:
    return mosaic_wording.notes(replace(MADE, device_facts={FACTS: {**FACTS_OF, **facts}}))


SAID = {
    **constants(mosaic_wording),
    "in time": mosaic_wording.notes(MADE),
    "in cycles": mosaic_wording.notes(decode(WORDS, SPEC)),
    "a launch that is unknown": placed(launch_known=False),
    "a kernel without a name": placed(kernel=""),
    **{f"clock: {clock.name}": placed(clock=clock)[-1] for clock in KernelClock},
}
