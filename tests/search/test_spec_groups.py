"""An optimizer's state that lies as its parameters is listed with them, once."""

from __future__ import annotations

from jaxstage_ext.search.layout_result import SpecGroup
from jaxstage_ext.search.spec_groups import with_states

SPLIT, WHOLE = ((), ("data",)), ((), ())


def group(path: str, spec: tuple[tuple[str, ...], ...] = SPLIT, shape: tuple[int, ...] = (8, 4)) -> SpecGroup:
    argument = path.partition("[")[0].partition(".")[0]
    return SpecGroup(path, argument, shape, spec, 2, 100, True)


def listed(*groups: SpecGroup) -> list[tuple[str, int, int]]:
    return [(one.pattern, one.leaves, one.bytes) for one in with_states(groups)]


def test_moments_are_counted_with_their_parameters() -> None:
    mu, nu = group("opt[0].mu['a']['w']"), group("opt[0].nu['a']['w']")
    assert listed(group("params['a']['w']"), group("opt[0].count", (), ()), mu, nu) == [
        ("params['a']['w'] and 2 alike in opt", 6, 300),
        ("opt[0].count", 2, 100),
    ]


def test_what_lies_otherwise_or_is_another_array_is_a_group_of_its_own() -> None:
    for other in (group("opt.mu['w']", WHOLE), group("opt.mu['w']", SPLIT, (4, 8)), group("opt.mu['v']")):
        assert [leaves for _, leaves, _ in listed(group("params['w']"), other)] == [2, 2]
    twins = listed(group("params['w']"), group("params['a']['w']", WHOLE), group("opt.mu['a']['w']"))
    assert len(twins) == 3, "the state of the second lies as the first does, and is not the first's"
    assert len(listed(group("params['w']"), group("params['a']['w']"))) == 2
