"""The process of one engine, as `%processes start` starts it: `python -m` this with the controller's connection file.

It imports JAX while the controller is still starting.
"""

from __future__ import annotations

import json
import os
import sys
import time

from jaxstage_ext.processes.inside import parent_watch

_PAUSE = 0.05


def main() -> None:
    """Run an engine until the kernel that started it has ended."""
    parent_watch.watch()
    connection, sys.argv = sys.argv[1], [sys.argv[0], *sys.argv[2:]]
    import jax  # noqa: F401
    from ipyparallel.engine.app import main as run

    os.environ["IPP_CONNECTION_INFO"] = _connection_info(connection)
    run()


def _connection_info(file: str) -> str:
    """The text of the connection file, once the controller has written all of it."""
    while True:
        try:
            with open(file, encoding="utf-8") as lines:
                text = lines.read()
            json.loads(text)
            return text
        except (OSError, ValueError):
            time.sleep(_PAUSE)


if __name__ == "__main__":
    main()
