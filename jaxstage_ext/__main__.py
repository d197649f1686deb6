"""`python -m jaxstage_ext`: findings, saved files and comparisons without a notebook."""

from __future__ import annotations

import gc
import sys

from jaxstage_ext.command.command_line_entry import main

COLLECT_AFTER = 200_000, 20, 50
"""As `gc.set_threshold` takes it: a short process that imports and compiles makes objects, and drops few of them."""

if __name__ == "__main__":
    gc.set_threshold(*COLLECT_AFTER)
    status = main(sys.argv[1:])
    gc.freeze()  # the interpreter's end then does not search through all that was imported
    sys.exit(status)
