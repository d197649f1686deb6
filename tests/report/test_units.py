"""Quantities as text: three digits, one rounding rule, plurals."""

from __future__ import annotations

import pytest

from jaxstage_ext.report.text.units import duration, plural, rounded, scaled, signed


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "B", "0 B"),
        (999.4, "B", "999 B"),
        (999.5, "B", "1 kB"),
        (1125, "B", "1.13 kB"),
        (1135, "B", "1.14 kB"),
        (999_499, "B", "999 kB"),
        (2.5e18, "FLOP", "2500 PFLOP"),
        (-34_300, "B", "-34.3 kB"),
        (0.5, "B", "0.5 B"),
        (1.0, "s", "1 s"),
        (0.99949, "s", "999 ms"),
        (0.9995, "s", "1 s"),
        (2.5e-6, "s", "2.5 µs"),
        (4e-10, "s", "0.4 ns"),
        (0.0, "s", "0 s"),
    ],
)
def test_scaled(value: float, unit: str, text: str) -> None:
    assert scaled(value, unit) == text


def test_no_exponents() -> None:
    assert [rounded(value) for value in (123_456.0, 0.000_012_34, 100.0, -1.5)] == [
        "123000",
        "0.0000123",
        "100",
        "-1.5",
    ]


def test_durations() -> None:
    times = (0.0004, 0.0812, 0.9996, 12.34, 99.94, 99.95, 123.4, 119.6)
    assert [duration(seconds) for seconds in times] == [
        "400 µs",
        "81.2 ms",
        "1 s",
        "12.3 s",
        "99.9 s",
        "1 min 40 s",
        "2 min 3 s",
        "2 min 0 s",
    ]


def test_changes() -> None:
    assert [signed(change) for change in (0, 1200, -3)] == ["0", "+1,200", "−3"]
    assert [signed(change, "B") for change in (12, -34_300, 999_900)] == ["+12 B", "−34.3 kB", "+1 MB"]


def test_plurals() -> None:
    assert [plural(count, "op") for count in (0, 1, 1234)] == ["0 ops", "1 op", "1,234 ops"]
    assert [plural(count, "leaf", "leaves") for count in (1, 2)] == ["1 leaf", "2 leaves"]
