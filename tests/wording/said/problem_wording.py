"""What is to be known of how layouts were searched."""

from wordings import constants

from jaxstage_ext.program.searching import problem_wording as wording

SAID: dict[str, object] = {
    **constants(wording),
    "assumed": wording.assumed(["params", "state"]),
    "assumed beside carried state": wording.assumed(["params"], ["cache"]),
    "not compilable": wording.not_compilable("AbstractMesh cannot be used"),
}
