"""The process of ipyparallel's controller, as `%processes start` starts it: `python -m` this, with its options."""

from __future__ import annotations

from jaxstage_ext.processes.inside import parent_watch


def main() -> None:
    """Run the controller until the kernel that started it has ended."""
    parent_watch.watch(removes=True)
    from ipyparallel.controller.app import main as run

    run()


if __name__ == "__main__":
    main()
