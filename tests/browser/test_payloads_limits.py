"""Saved outputs that unpack, nest or count without end: shown in part or refused in a line, in a page that answers."""

from __future__ import annotations

import base64
import copy
import gzip
import random
import time
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.payloads import Path
from tests.browser.saved_payloads import KEYS, drawn, payload, show, walk, whole_report, with_keys
from tests.browser.test_payloads_saved import harmless

if TYPE_CHECKING:
    from tests.browser.conftest import Opener
    from tests.browser.notebook_page import NotebookPage
    from tests.browser.servers import Server

STRANGE = (None, -1, 1e308, 2**53, "", "<b id=pwn>", [], {}, [[]], True, {"__proto__": {"polluted": 1}})
MUTATIONS = 5
LONGEST_TASK = 4000
"""Milliseconds for which the page may not answer, on a machine that does other things too."""
WATCH_TASKS = """() => {
    window.longest = 0;
    const note = entry => { window.longest = Math.max(window.longest, entry.duration); };
    new PerformanceObserver(list => list.getEntries().forEach(note)).observe({ entryTypes: ["longtask"] });
}"""


@pytest.fixture(scope="module")
def untrusted(module_notebook: Opener, lab: Server) -> NotebookPage:
    """An open notebook whose outputs are given by the tests, and which notes how long the page did not answer."""
    notebook = module_notebook(lab, ["1"], width=1500, height=1100)
    notebook.page.evaluate(WATCH_TASKS)
    return notebook


def check(notebook: NotebookPage, data: dict[str, Any], what: str, *, walks: bool = True) -> bool:
    show(notebook, data)
    is_drawn = drawn(notebook)
    if is_drawn and walks:
        walk(notebook)
    harmless(notebook, what)
    return is_drawn


def test_keys_of_an_objects_own_machinery_change_nothing(untrusted: NotebookPage) -> None:
    for bad in ({"polluted": 1, "prototype": {"polluted": 1}}, "<img id=pwn src=x>"):
        assert check(untrusted, payload(with_keys(whole_report()[:1], dict.fromkeys(KEYS, bad))), str(bad))


def test_anything_in_any_place_is_shown_or_refused_in_a_line(untrusted: NotebookPage) -> None:
    whole, seeded = whole_report()[:1], random.Random(12)
    everywhere = [place for place in places(whole) if place]
    for _ in range(MUTATIONS):
        chosen = seeded.sample(everywhere, seeded.choice((3, 10, 30)))
        made = copy.deepcopy(whole)
        for place in chosen:
            put(made, place, seeded.choice(STRANGE))
        check(untrusted, payload(made), str(chosen))


def places(value: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield from places(part, (*at, step))


def put(value: Any, place: Path, new: Any) -> None:
    """Put it there, unless an earlier one has taken the place away."""
    for step in place[:-1]:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(value, dict) or (isinstance(value, list) and place[-1] < len(value)):
        value[place[-1]] = new


def bomb(size: int, wbits: int) -> str:
    """So many zeros, packed, without holding them."""
    packer, zeros = zlib.compressobj(9, wbits=wbits), bytes(1 << 20)
    packed = b"".join(packer.compress(zeros) for _ in range(size >> 20)) + packer.flush()
    return base64.b64encode(packed).decode()


def numbers(value: Any, number: float) -> Any:
    """A copy in which every number but that of the format is this one."""
    if isinstance(value, dict):
        return {name: part if name == "jaxstage" else numbers(part, number) for name, part in value.items()}
    if isinstance(value, list):
        return [numbers(part, number) for part in value]
    return number if isinstance(value, int | float) and not isinstance(value, bool) else value


def too_large() -> dict[str, tuple[dict[str, Any], bool]]:
    """What is saved, and whether a panel can be drawn of it."""
    deep = b"[" * 200_000 + b"]" * 200_000
    bombed, packed = whole_report()[:1], bomb(1 << 27, 15)
    for document in bombed[0]["documents"].values():
        document["text"]["data"] = packed
    return {
        "a gzip bomb": (payload([]) | {"reports": bomb(1 << 28, 31)}, False),
        "bombs in documents": (payload(bombed), True),
        "deep nesting": (payload([], deep), False),
        "deep nesting in a report": (payload([], b'[{"jaxstage":3,"summary":' + deep + b"}]"), False),
        "millions of objects": (payload([], b"[" + b"{}," * 3_000_000 + b"0]"), False),
        "a billion rows": (payload(numbers(whole_report()[:1], 1_000_000_000)), True),
        "negative counts": (payload(numbers(whole_report()[:1], -1)), True),
        "base64 that is none": (payload([]) | {"reports": "%" * 1_000_000}, False),
        "gzip that ends early": (
            payload([]) | {"reports": base64.b64encode(gzip.compress(b"[]" * 999)[:-9]).decode()},
            False,
        ),
    }


def test_what_is_too_large_never_hangs_the_page(untrusted: NotebookPage) -> None:
    untrusted.page.evaluate("() => { window.longest = 0 }")
    took = {}
    for name, (data, can_be_drawn) in too_large().items():
        began = time.perf_counter()
        assert check(untrusted, data, name) == can_be_drawn, name
        longest = untrusted.page.evaluate(
            "() => { const longest = window.longest; window.longest = 0; return longest }"
        )
        took[name] = f"{time.perf_counter() - began:.1f} s, {longest:.0f} ms"
        assert longest < LONGEST_TASK, took


def test_a_document_that_unpacks_to_too_much_is_one_line_in_its_pane(untrusted: NotebookPage) -> None:
    assert check(untrusted, too_large()["bombs in documents"][0], "bombs", walks=False)
    line = untrusted.panel().root.get_by_text("unpacks to more than 64 MB").first
    line.wait_for()
    assert "\n" not in line.inner_text()
