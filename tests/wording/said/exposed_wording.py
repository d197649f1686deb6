"""Exposed collectives."""

from wordings import constants

from jaxstage_ext.profiling.predictions import exposed_wording

SAID = constants(exposed_wording)
