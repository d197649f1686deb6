"""The verdict at its boundaries: a device of 1,600 bytes has room for 1,600."""

from __future__ import annotations

import pytest

from jaxstage_ext.analysis.memory.fit import DeviceMemory, Fits, FitVerdict, read, read_between

DEVICE = DeviceMemory("a device", 1600)


@pytest.mark.parametrize(
    ("platform", "needed", "verdict", "answer"),
    [
        ("cpu", 0, FitVerdict.FITS, Fits.YES),
        ("cpu", 1600, FitVerdict.FITS, Fits.YES),
        ("cpu", 1601, FitVerdict.DOES_NOT_FIT, Fits.NO),
        ("tpu", 1600, FitVerdict.FITS, Fits.YES),
        ("cuda", 1200, FitVerdict.FITS, Fits.YES),
        ("cuda", 1201, FitVerdict.FITS_IN_MORE, Fits.WITH_SETTING),
        ("cuda", 1600, FitVerdict.FITS_IN_MORE, Fits.WITH_SETTING),
        ("cuda", 1601, FitVerdict.DOES_NOT_FIT, Fits.NO),
    ],
)
def test_what_a_program_needs_is_compared_with_what_there_is(
    platform: str, needed: int, verdict: FitVerdict, answer: Fits
) -> None:
    fit = read(needed, DEVICE, platform)
    assert (fit.verdict, fit.answer) == (verdict, answer)


@pytest.mark.parametrize(
    ("least", "most", "answer"), [(1, 1600, Fits.YES), (1600, 1601, Fits.UNKNOWN), (1601, 9999, Fits.NO)]
)
def test_a_range_is_decided_where_both_ends_agree(least: int, most: int, answer: Fits) -> None:
    assert read_between(least, most, DEVICE, "cpu").answer is answer


def test_the_share_of_a_gpu_is_rounded_up() -> None:
    assert read(1201, DEVICE, "cuda").fraction == 0.76
