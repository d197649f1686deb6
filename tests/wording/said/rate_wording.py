"""Why rates of a timeline are unknown."""

from wordings import constants

from jaxstage_ext.program.running import rate_wording

SAID = constants(rate_wording)
