"""Why the time of a layout is unknown."""

from jaxstage_ext.search import score_wording as wording

SAID: dict[str, object] = {
    "bandwidth": wording.no_bandwidth("cpu:8"),
    "peak": wording.no_peak("NVIDIA A10", ["f8e4m3fn", ""]),
    "trips": [wording.unknown_trips([]), wording.unknown_trips(["In [2]:4"])],
}
