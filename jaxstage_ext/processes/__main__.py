"""`python -m jaxstage_ext.processes script.py [arguments]`: runs a script with the pre-flight on."""

from __future__ import annotations

import os
import runpy
import sys

from jaxstage_ext.processes.script_preflight import begin_script

_USAGE = "usage: python -m jaxstage_ext.processes script.py [arguments]"


def main() -> None:
    """Run the script that the command line names as `python script.py` does."""
    if len(sys.argv) < 2:
        sys.exit(_USAGE)
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    begin_script()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
