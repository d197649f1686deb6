"""What the stored pictures of a notebook say, beside what the notebook gives when a test executes it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version

from jaxstage_ext.core.targets import packages
from tests.showcase.picture import Picture
from tests.showcase.picture_list import COMPILERS, PICTURES
from tests.showcase.records import read_records


def comparable_pictures(notebook: str) -> list[Picture]:
    """Those of a notebook that were taken with the JAX and on a processor as here, where their compilers are too."""
    here, records = (version("jax"), platform.machine()), read_records()
    mine = [one for one in PICTURES if one.notebook == notebook and one.name in records]
    same = [one for one in mine if (records[one.name].jax, records[one.name].machine) == here]
    return [one for one in same if not any(packages.find(kind).lacks for kind in COMPILERS.get(one.name, ()))]


def expressions(notebook: str) -> dict[str, str]:
    """What gives the answer of each, by its name."""
    return {one.name: one.answer for one in comparable_pictures(notebook)}


def assert_pictures_say(answers: Mapping[str, str]) -> None:
    """Fail where a picture says something else than the notebook gave."""
    records = read_records()
    for name, answer in answers.items():
        stored = records[name].answer
        assert stored == answer, f"notebooks/images/{name}.png says {stored!r}, the notebook {answer!r}: make notebooks"
