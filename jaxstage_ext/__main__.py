"""`python -m jaxstage_ext`: findings, saved files and comparisons without a notebook."""

from __future__ import annotations

import sys

from jaxstage_ext.command.command_line_entry import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
