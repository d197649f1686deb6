"""How the ceilings of this machine's CPU become known."""

from jaxstage_ext.core.targets.quick_ceilings import NotMeasured
from jaxstage_ext.program.device import ceiling_wording

SAID = {reason.name.lower(): ceiling_wording.remedy(reason, "the worker died") for reason in NotMeasured}
