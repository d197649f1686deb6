"""How a profile was made."""

from jaxstage_ext.profiling.capture.capture_facts import CaptureFacts, FirstRun
from jaxstage_ext.program.head.capture_wording import sentences, small_print

SAID = {
    **{f"first run: {first.name}": sentences(CaptureFacts(first, 3, 2.0)) for first in FirstRun},
    **{
        f"first run: {first.name}, JAX compiled 2 modules": sentences(CaptureFacts(first, 3, 2.0, 1.5, 2))
        for first in FirstRun
    },
    "failed": sentences(CaptureFacts(FirstRun.LEFT_OUT, 3, 2.0, failed="ValueError")),
    "1,200 eager operations": sentences(CaptureFacts(FirstRun.LEFT_OUT, 3, 2.0, eager=1200)),
    "Python's calls were traced": sentences(CaptureFacts(FirstRun.LEFT_OUT, 3, 2.0, python=True)),
    "no command buffers": sentences(CaptureFacts(FirstRun.LEFT_OUT, 3, 2.0, command_buffers=False)),
    "not sampled for 0.5 s": small_print(CaptureFacts(FirstRun.LEFT_OUT, 3, 2.0, unsampled=0.5)),
}
