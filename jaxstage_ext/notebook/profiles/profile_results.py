"""What a profile's options ask of the capture, and where its result goes."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from jaxstage_ext.notebook.settings import JAXStage
from jaxstage_ext.report.text.public_paths import public_text

if TYPE_CHECKING:
    from jaxstage_ext.profiling.capture.capture import Capture, CaptureOptions
    from jaxstage_ext.program.program import Program


def capture_options(options: Namespace) -> CaptureOptions:
    """The options of a capture that a magic's line asks for."""
    from jaxstage_ext.profiling.capture.capture import MOST_EVENTS, CaptureOptions

    limit = options.limit or MOST_EVENTS
    return CaptureOptions(options.steps, options.python, not options.no_sampling, limit, options.sm_clock)


def save(capture: Capture, options: Namespace) -> None:
    """Write the profile where `--save` says, and print the file's name. Raises UsageError where that cannot be."""
    from jaxstage_ext.profiling.capture import saved_profile

    if options.save is None or not capture.data:
        return
    try:
        print(f"profile saved: {saved_profile.write(capture.data, options.save)}")
    except OSError as error:
        raise UsageError(f"the profile cannot be saved in {options.save!r}: {public_text(str(error))}") from None


def show(program: Program) -> None:
    """Show a program of which everything is known."""
    from jaxstage_ext.panel.showing import display

    display.MOST_PANELS = JAXStage.instance().most_panels
    display.show([program]).finish([program])
