"""What tables of a timeline do not know."""

from wordings import constants

from jaxstage_ext.profiling.analysis import table_wording

SAID = {**constants(table_wording), "three names": table_wording.several("jit_step", 3)}
