"""What is said of the neighbourhood of an instruction."""

from wordings import constants

from jaxstage_ext.program.near import near_wording as wording

SAID = {
    **constants(wording),
    "no such instruction": wording.no_instruction("fusion.99", ["fusion.1", "fusion.2"], 41),
    "nothing is near": wording.no_instruction("x", [], 1),
    "hops": wording.bad_hops(-1),
    "head": wording.head("fusion.1", "fusion", "main.4", 2),
    "left out": wording.left_out(12, 3),
}
