"""The readers on real IR of the oldest and the newest supported JAX."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest

from jaxstage_ext import inspect
from jaxstage_ext.ir import stablehlo
from jaxstage_ext.ir.hlo import hlo_document
from jaxstage_ext.ir.hlo import module as hlo
from jaxstage_ext.ir.sources.source import FrameTable
from tests.golden.record import DEVICES, listing, load_programs, text_of

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = sorted(path.parent for path in GOLDEN.glob("jax-*/*/hlo.pb"))
PROGRAMS = load_programs().PROGRAMS

every_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: f"{path.parent.name}-{path.name}")


def test_every_program_has_files_of_every_supported_end() -> None:
    versions = {path.parent.name for path in FOLDERS}
    assert versions == {"jax-0.10.2", "jax-0.12.0.1"}
    for version in versions:
        assert {path.name for path in FOLDERS if path.parent.name == version} == set(PROGRAMS)


@every_folder
def test_hlo(folder: Path) -> None:
    golden = (folder / "hlo.golden").read_text()
    module, table = hlo.parse((folder / "hlo.pb").read_bytes()), FrameTable()
    lowered = (folder / "stablehlo.mlir").read_text()
    text = text_of((folder / "stablehlo.golden").read_text())
    assert listing(hlo_document.read(text_of(golden), module, table, stablehlo.read(text, lowered, table))) == golden


@every_folder
def test_stablehlo(folder: Path) -> None:
    golden = (folder / "stablehlo.golden").read_text()
    document = stablehlo.read(text_of(golden), (folder / "stablehlo.mlir").read_text(), FrameTable())
    assert listing(document) == golden


@pytest.fixture
def canonical_names():
    root = f"{GOLDEN.parent.parent}/"
    before = jax.config.jax_hlo_source_file_canonicalization_regex
    jax.config.update("jax_hlo_source_file_canonicalization_regex", root)
    yield
    jax.config.update("jax_hlo_source_file_canonicalization_regex", before)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", ["jaxpr", "stablehlo"])
def test_the_installed_jax_gives_the_golden_text(name: str, kind: str, canonical_names: None) -> None:
    path = GOLDEN / f"jax-{jax.__version__}" / name / f"{kind}.golden"
    if not path.exists():
        pytest.skip(f"golden files are of the oldest and newest JAX, not of {jax.__version__}")
    if jax.device_count() < DEVICES:
        pytest.skip(f"needs {DEVICES} devices")
    function, arguments = PROGRAMS[name]
    inspection = inspect(function, *arguments, stage="lower")
    assert listing(inspection.documents[kind]) == path.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_optimised_hlo_of_this_machine_is_linked(name: str) -> None:
    function, arguments = PROGRAMS[name]
    document = inspect(function, *arguments).documents["hlo"]
    assert document.coverage.total > 0
    assert document.coverage.share == pytest.approx(1, abs=0.01)


# The sample: for each inferred link, the source line a reader of the HLO would give, and why.
HAND_CHECKED = {
    "spread_out": {
        "  %broadcast.1 = f32[8,8]{1,0} broadcast(%constant.2), dimensions={}": 19,  # the 0 of `x > 0`
        "  %broadcast.0 = f32[8,8]{1,0} broadcast(%constant.1), dimensions={}": 19,  # the 0.1 of `0.1 * x`
        "  %broadcast.5 = f32[8,8]{1,0} broadcast(%constant.7), dimensions={}": 19,
        "  %broadcast.4 = f32[8,8]{1,0} broadcast(%constant.6), dimensions={}": 19,
    },
    "scan": {
        "  %copy.10 = s32[] copy(%constant.11)": 56,  # the loop counter that lax.scan starts
    },
    "cond": {
        "  %broadcast.4 = f32[4]{0} broadcast(%constant.4), dimensions={}": 71,  # the 2 of `x * 2`
        "  %broadcast.2 = f32[4]{0} broadcast(%constant.2), dimensions={}": 74,  # the 2 of `sin(x) / 2`
    },
}


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_inferred_links_are_those_a_reader_would_give(name: str) -> None:
    folder = GOLDEN / "jax-0.12.0.1" / name
    golden = (folder / "hlo.golden").read_text()
    document = hlo_document.read(text_of(golden), hlo.parse((folder / "hlo.pb").read_bytes()), FrameTable())
    for text, line in HAND_CHECKED[name].items():
        number = document.lines.index(text) + 1
        span = document.source_of(number)
        assert span is not None
        assert span.inferred
        assert span.line == line, text
