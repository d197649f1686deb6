"""What the plugin that keeps figures by commit says."""

from wordings import constants

from jaxstage_ext.testing import history_wording as wording

SAID = {
    **constants(wording),
    "kept": wording.kept(3, "0123456789ab+", "figures.jsonl"),
    "nothing moved": wording.nothing_moved(),
    "more memory": wording.moved("test_step", "v5e:2x4", "memory needed", 1e9, 1.25e9, "0123456789ab"),
    "fewer collectives": wording.moved("test_step", "v5e:2x4", "collectives", 4, 3, "0123456789ab"),
    "from nothing": wording.moved("test_step", "v5e:2x4", "sent", 0, 8, "0123456789ab"),
    "unknown now": wording.moved("test_step", "cpu", "FLOPs", 8e6, None, "0123456789ab"),
    "not written": wording.not_written("figures.jsonl", "No space left on device"),
}
