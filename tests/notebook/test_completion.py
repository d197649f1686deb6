"""Tab on the line of a magic, and in the Python below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from IPython.core.completer import provisionalcompleter
from magic_shell import fresh_shell

from jaxstage_ext.notebook.lines import target_completion

Complete = Callable[[str], list[str]]
DEFINITIONS = """
import jax.numpy as jnp
def loss(w, x, *, scale_factor=1):
    return jnp.sum(x @ w) * scale_factor
class config:
    depth = 3
"""


@pytest.fixture(scope="module")
def complete() -> Iterator[Complete]:
    """What Tab offers at the bar of a text."""
    with fresh_shell() as shell:
        shell.run("%load_ext jaxstage_ext")
        shell.run(DEFINITIONS)

        def offered(text: str) -> list[str]:
            with provisionalcompleter():
                found = shell.ip.Completer.completions(text.replace("|", ""), text.index("|"))
                return [completion.text for completion in found]

        yield offered


@pytest.mark.parametrize(
    "line", ["%%compile", "%%compile -t v5e:2x2 --mesh data=4", "%%trace -o don't", "%%profile -n 3"]
)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("los|", "loss"),
        ("jnp.tan|", "tanh"),
        ("config.|", "depth"),
        ("loss(w, x, sca|", "scale_factor="),
        ("def step(a, *, rate=1): return a\nstep(1, ra|", "rate="),
        ("def helper(a): return a\nhel|", "helper"),
    ],
)
def test_the_body_completes_as_any_python(complete: Complete, line: str, body: str, expected: str) -> None:
    assert expected in complete(f"{line}\n{body}")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%%compile --tar|", ["--target"]),
        ("%processes sta|", ["start", "status"]),
        ("%processes start 2 --|", ["--devices", "--timeout"]),
        ("%processes start 2 --devices 2 --|", ["--timeout"]),
        ("%processes guard |", ["off", "on"]),
        ("%processes use conf|", ["config"]),
        ("%%compile -t v5|", ["v5e:2x2", "v5p:2x2x1"]),
        ("%%compile --target=h1|", ["h100:8"]),
        ("%%lower -th2|", ["h200:8"]),
        ("%compile -t v5e:2|", ["v5e:2x2", "v5e:2x4"]),
        ("%%compile los|", ["loss"]),
        ("%compile los|", ["loss"]),
        ("%%compile -q loss(conf|", ["config"]),
        ("%%compile loss(config.dep|", ["depth"]),
        ("%%compile config.dep|", ["config.depth"]),
    ],
)
def test_the_line_completes_options_targets_and_names(complete: Complete, line: str, expected: list[str]) -> None:
    for text in (line, f"{line}\nx = 1\nloss(x, x)"):
        assert sorted(complete(text)) == expected


def test_a_keyword_of_a_call_on_the_line(complete: Complete) -> None:
    assert "scale_factor=" in complete("%compile loss(1, 2, sca|")


def test_a_stage_without_targets_offers_none(complete: Complete) -> None:
    assert not {"v5e:2x2", "v5p:2x2x1"} & set(complete("%%trace -t v5|"))


def test_sizes_of_a_kind_are_targets_from_small_to_large() -> None:
    assert target_completion.names("v5e:")[:4] == ["v5e:2x2", "v5e:1x1", "v5e:1x2", "v5e:2x4"]
    assert "v4:2x2x4" in target_completion.names("v4:")
    assert target_completion.names("cpu:")[0] == "cpu:1"
    assert target_completion.names("abacus:") == []
