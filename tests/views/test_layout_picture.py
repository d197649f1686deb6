"""The map of layouts that stands still: its axes have round values, where the points are too."""

from __future__ import annotations

import pytest
from made_searches import GB, LAYOUTS, ROOM, found, many

from jaxstage_ext.search.drawn.layout_columns import columns_of
from jaxstage_ext.views import layout_picture
from jaxstage_ext.views.charts.picture_axis import PictureAxis
from jaxstage_ext.views.charts.pixel_text import HEIGHT, pixel_text


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0875, 0.6), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        ((1.0, 17.0), [1, 2, 5, 10]),
        ((1e-3, 5e2), [1e-3, 1e-2, 1e-1, 1, 10, 100]),
        ((3.0, 3.0), [3.0]),
        ((22e6, 176e6), [50e6, 100e6, 150e6]),
    ],
)
def test_round_values_are_marked(values: tuple[float, float], ticks: list[float]) -> None:
    assert PictureAxis.of(values, 0, 100).ticks(6) == pytest.approx(ticks)


def test_values_have_their_places() -> None:
    even, log = PictureAxis.of([10, 20], 100, 0), PictureAxis.of([1, 100], 0, 100)
    assert [even.pixel(value) for value in (10, 15, 20, 99, float("nan"))] == [100, 50, 0, 0, 100]
    assert [log.pixel(value) for value in (1, 10, 100, 0)] == [0, 50, 100, 0]


def test_figures_are_pixels() -> None:
    one = pixel_text("1")
    assert one.shape == (HEIGHT, 6) and one[:2].tolist() == [[False, False, True, True, False, False]] * 2
    assert all(pixel_text(each).any() for each in "0123456789.kMGTPEmµnpsBx") and not pixel_text("?").any()


def test_the_picture_says_what_its_axes_are() -> None:
    shown = columns_of(found(LAYOUTS + many(40).layouts), 2000)
    html = str(layout_picture.layout_map(shown, ROOM))
    assert layout_picture.UP in html and layout_picture.ACROSS in html and "16 GB of one device" in html
    assert "the line" not in str(layout_picture.layout_map(shown, 900 * GB)), "it is further up"
