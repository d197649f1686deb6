"""`python -m tests.showcase`: the notebooks run in a real JupyterLab, their panels pictured (`make notebooks`).

`python -m tests.showcase 09 10` takes those whose name begins so; `--stale` those that are older than what made them,
`--check` names these and takes none. `--gallery` builds offline pages of the main panels instead (`make gallery`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from tests.showcase.gallery_list import PAGES
from tests.showcase.picture import Picture
from tests.showcase.picture_list import PICTURES
from tests.showcase.records import read_records
from tests.showcase.staleness import staleness


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.showcase", description=__doc__.split("\n")[0])
    parser.add_argument("notebook", nargs="*", help="those whose name begins so")
    parser.add_argument("--stale", action="store_true", help="those that are older than what made them")
    parser.add_argument("--check", action="store_true", help="name the pictures that are stale, and take none")
    parser.add_argument("--gallery", action="store_true", help="build the gallery instead")
    given = parser.parse_args(arguments)
    if given.gallery:
        return _gallery(tuple(given.notebook))
    chosen = [one for one in PICTURES if not given.notebook or one.notebook.startswith(tuple(given.notebook))]
    if given.check:
        return _check(chosen)
    return _take(chosen, given.stale)


def _check(pictures: Sequence[Picture]) -> int:
    records = read_records()
    stale = [(one, reason) for one in pictures for reason in staleness(one, records.get(one.name))]
    for picture, reason in stale:
        print(f"{picture.file.name} of {picture.notebook}: {reason.value}")
    if stale:
        print("make notebooks takes them anew.")
    return 1 if stale else 0


def _take(pictures: Sequence[Picture], stale_only: bool) -> int:
    from tests.showcase.lab_run import laboratory, taken
    from tests.showcase.taking import recorded

    records = read_records()
    notebooks = dict.fromkeys(
        one.notebook for one in pictures if not stale_only or staleness(one, records.get(one.name))
    )
    failed = []
    with laboratory() as (server, browser):
        for notebook in notebooks:
            began = time.monotonic()
            chosen = [one for one in PICTURES if one.notebook == notebook]
            try:
                sizes = recorded(chosen, *taken(server, browser, chosen[0].path, chosen))
            except Exception as error:  # the others are taken all the same
                failed.append(notebook)
                print(f"{notebook}: {type(error).__name__}: {error}", flush=True)
                continue
            each = ", ".join(f"{name} {size // 1000} kB" for name, size in sizes.items())
            print(f"{notebook}: {each}, {time.monotonic() - began:.0f} s", flush=True)
    if failed:
        print(f"Not taken: {', '.join(failed)}")
    return 1 if failed else 0


def _gallery(words: tuple[str, ...]) -> int:
    from tests.showcase.gallery import build

    print(build([page for page in PAGES if not words or page.notebook.startswith(words)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
