"""What the short forms for language models say."""

from wordings import constants

from jaxstage_ext.views.brief import brief_wording as wording

SAID = {
    **constants(wording),
    "head": wording.head("step(x: f32[8])", "v5e:2x2", ["trace done", "compile failed"]),
    "targets": wording.targets(["v5e:2x2", "h100:8"]),
    "findings": wording.found(1),
    "more findings": wording.more_found(3),
    "waiting": wording.waiting(["collective", "slow pass"]),
}
