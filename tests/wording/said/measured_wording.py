"""Measured times."""

from wordings import constants

from jaxstage_ext.program.running import measured_wording as wording

SAID = {
    **constants(wording),
    "of a function that was not profiled": wording.not_measured("step"),
    "of one whose name cannot be typed": wording.not_measured("<lambda>"),
    "of one compiled for another target": wording.not_measured("step", other_target="v5e:2x4"),
    "one compiled for another target has no timeline": wording.not_profiled("step", other_target="v5e:2x4"),
    "it has no timeline": wording.not_profiled("step"),
    "a file has no timeline": wording.not_profiled("step", is_file=True),
    "1 run": wording.runs(1),
    "2,000 runs": wording.runs(2000),
}
