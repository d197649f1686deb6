"""A comparison of timelines."""

from wordings import constants

from jaxstage_ext.profiling.analysis import comparison_notes

SAID = {
    **constants(comparison_notes),
    "modes differ": comparison_notes.other_mode("kernels", "host threads"),
    "1 and 20 steps": comparison_notes.per_step("kernels", 1, 20),
}
