"""Which values two records mean, when the objects are gone."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any

from jaxstage_ext.compilation.causes.sameness import same_value
from jaxstage_ext.compilation.records.value_keeping import kept_value


class ByIdentity:
    def __init__(self, n: Any) -> None:
        self.n = n


@dataclasses.dataclass(frozen=True)
class ByValue:
    n: Any


def test_objects_that_compare_by_identity_differ_when_they_are_gone() -> None:
    first = kept_value("cfg", ByIdentity(2))
    gc.collect()
    second = kept_value("cfg", ByIdentity(2))
    gc.collect()
    assert same_value(first, second) is False


def test_one_object_is_itself_when_it_is_gone() -> None:
    cfg = ByIdentity(2)
    first, second = kept_value("cfg", cfg), kept_value("cfg", cfg)
    del cfg
    gc.collect()
    assert same_value(first, second) is True


def test_objects_with_equality_are_told_by_what_they_held() -> None:
    first, second, third = (kept_value("cfg", ByValue(n)) for n in (2, 2, 3))
    gc.collect()
    assert same_value(first, second) is True
    assert same_value(first, third) is False
