"""Why a program's layouts cannot be searched."""

from jaxstage_ext.program.questions import partitioned_wording as wording
from jaxstage_ext.program.questions.partitioned_wording import NotSearchable

SAID = {kind.name: wording.reason(kind, "tpu_custom_call") for kind in NotSearchable}
