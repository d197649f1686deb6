"""What heads a comparison."""

from jaxstage_ext.program.comparing.changed_figures import ChangedFigure
from jaxstage_ext.program.comparing.comparison_wording import against, of_targets

FLOPS = ChangedFigure("FLOPs", "FLOP", 8.4e6, 16.8e6, "In [4]:3")
SENT = ChangedFigure("sent", "B", 0.0, 4096.0)
LESS = ChangedFigure("bytes moved", "B", 4096.0, 1024.0, "In [2]:5")
MANY = [FLOPS._replace(title=f"figure {n}", line="") for n in range(6)]
SAID = {
    "worse": against("before", [FLOPS]),
    "worse, from nothing": against("before", [FLOPS, SENT]),
    "better": against("before", [LESS]),
    "both": against("before", [FLOPS, LESS]),
    "many": against("before", MANY),
    "neither": against("before", []),
    "neither, of options": against("-O 0", [], "-O 3"),
    "of options": against("-O 0", [FLOPS, LESS], "-O 3"),
    "targets": of_targets([("h100", 1.5e-6), ("v5e", 1.2e-6)], ["cpu:8"], ["v5e"]),
    "estimated": of_targets([("h100:8", 5.36e-3), ("b200:8", 3.84e-3)], [], [], are_estimates=True),
    "six targets": of_targets([(f"t{n}", n * 1e-6) for n in range(1, 7)], [], []),
    "a target of no time": of_targets([("h100", 0.0), ("v5e", 1.2e-6)], [], []),
    "no time is known": of_targets([], ["cpu:8"], []),
}
