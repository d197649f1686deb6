"""Every notebook runs from top to bottom, is committed without outputs, and says what is true."""

from __future__ import annotations

import importlib.util
import platform
import re
from pathlib import Path
from types import ModuleType

import jax
import pytest
from absent import needs

from jaxstage_ext.core.targets import packages

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
every_notebook = pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", NOTEBOOKS / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def first_look(demo: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[nbformat.NotebookNode, Path]:
    page = tmp_path_factory.mktemp("demo") / "demo.html"
    return demo.executed(NOTEBOOKS / "01_first_look.ipynb", page), page


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def shown(notebook: nbformat.NotebookNode, holding: str) -> str:
    """All text that the cell which holds this left, printed and as its value."""
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code" and holding in cell.source)
    return printed(cell) + "".join(output.data["text/plain"] for output in cell.outputs if "data" in output)


def run(demo: ModuleType, name: str, *first: str) -> nbformat.NotebookNode:
    """A notebook executed, after cells of this source; nothing may be written to standard error."""
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    notebook.cells[:0] = [nbformat.v4.new_code_cell(source) for source in first]
    demo.run(notebook, NOTEBOOKS)
    streams = [output for cell in notebook.cells for output in cell.get("outputs", ()) if "name" in output]
    assert not [output.text for output in streams if output.name == "stderr"]
    return notebook


NO_COMPILERS = """
from jaxstage_ext.core.targets import packages
packages._libtpu = lambda: packages.Compiler(lacks="needs libtpu, the TPU compiler: pip")
packages._cuda = lambda: packages.Compiler(lacks="needs JAX's CUDA plugin: pip")
"""


@pytest.fixture(scope="module")
def hardware(demo: ModuleType) -> nbformat.NotebookNode:
    if jax.__version_info__ < (0, 12):
        pytest.skip("it compiles for minutes, so it runs in full with the newest JAX alone")
    return run(demo, "02_hardware_you_do_not_have.ipynb")


@pytest.fixture(scope="module")
def compiler(demo: ModuleType) -> nbformat.NotebookNode:
    return run(demo, "03_what_the_compiler_did.ipynb")


def row(table: str, target: str) -> str:
    return next(line for line in table.splitlines() if line.strip().startswith(target))


@every_notebook
def test_is_committed_without_outputs(path: Path) -> None:
    """Outputs hold times and paths of one machine; the tests make fresh ones."""
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


def test_first_look_shows_a_panel_for_each_call(
    demo: ModuleType, first_look: tuple[nbformat.NotebookNode, Path]
) -> None:
    notebook, _ = first_look
    shown = list(demo.panels(notebook))
    assert len(shown) == 2
    assert "loss(w: f32[128,512], x: f32[8,128]) -> f32[]" in shown[0]
    assert all("compile" in text for text in shown)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the text speaks of the fusions that XLA makes on x86")
def test_the_softmax_line_becomes_the_three_fusions_of_the_text(
    first_look: tuple[nbformat.NotebookNode, Path],
) -> None:
    notebook, _ = first_look
    cell = next(cell for cell in notebook.cells if "lines_from" in cell.source)
    lines = printed(cell).splitlines()
    assert len(lines) == 3
    assert all("fusion(" in line for line in lines)


def test_first_look_as_a_page(first_look: tuple[nbformat.NotebookNode, Path]) -> None:
    _, page = first_look
    assert "jax.nn.softmax" in page.read_text()
    assert page.stat().st_size < 1_000_000


# ---- 02 --------------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(1800)
def test_the_four_machines_are_compared_as_far_as_they_can_be(hardware: nbformat.NotebookNode) -> None:
    table = shown(hardware, "first.compare()")
    assert "unknown" in row(table, "cpu:8")
    for target, kind in (("v5e:2x4", "tpu"), ("v5p:2x2x2", "tpu"), ("h100:8", "cuda")):
        if lacks := packages.find(kind).lacks:
            assert f"{target} {lacks}" in shown(hardware, "def possible")
        else:
            assert row(table, target)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("target", "refused"), [("v5e:2x4", "RESOURCE_EXHAUSTED"), ("h100:8", "no")])
def test_what_is_too_large_fits_with_checkpoint(hardware: nbformat.NotebookNode, target: str, refused: str) -> None:
    needs(target)
    first, second = shown(hardware, "first.compare()"), shown(hardware, "second = None")
    assert refused in (first if refused != "no" else row(first, target))
    assert "yes" in row(second, target)


@pytest.mark.timeout(1800)
def test_every_machine_exchanges_gradients(hardware: nbformat.NotebookNode) -> None:
    told = shown(hardware, "EXCHANGE")
    assert "all-reduce" in row(told, "cpu:8")
    assert "FLOP for each byte" in shown(hardware, "CATALOGUE") or packages.find("tpu").lacks


# ---- 03 --------------------------------------------------------------------------------------------------------------


def test_passes_are_listed_and_followed(compiler: nbformat.NotebookNode) -> None:
    assert "changed the module" in shown(compiler, "ins.passes")
    assert "fusion: " in shown(compiler, "ins.passes.diff")
    assert " exponential(" in shown(compiler, "ins.passes.follow")


def test_machine_code_of_the_cpu_and_of_an_h100(compiler: nbformat.NotebookNode) -> None:
    assert "loop fusion" in shown(compiler, "ins.kernels")
    assert "fmul" in shown(compiler, '"fmul"')
    gpu = shown(compiler, "if gpu:")
    lacks = packages.find("cuda").lacks
    assert lacks in shown(compiler, "gpu = None") if lacks else "ex2.approx" in gpu


# ---- 04 --------------------------------------------------------------------------------------------------------------

WHERE = "04_where_the_time_and_memory_go.ipynb"


@pytest.fixture(scope="module", params=["h100", "local"])
def where(demo: ModuleType, request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    if request.param == "local":
        return run(demo, WHERE, NO_COMPILERS)
    if jax.__version_info__ < (0, 12):
        pytest.skip("GPU compiles take long, so they run with the newest JAX alone")
    needs("h100")
    return run(demo, WHERE)


def figures(text: str, holding: str) -> list[float]:
    """The numbers of the first line that holds this."""
    line = next(line for line in text.splitlines() if holding in line)
    return [float(number) for number in re.findall(r"\d[\d.]*(?:e[+-]\d+)?", line)]


@pytest.mark.timeout(1800)
def test_the_roofline_has_a_verdict_where_the_peaks_are_known(where: nbformat.NotebookNode) -> None:
    verdict = shown(where, "roofline.verdict")
    is_there = "h100 needs" not in shown(where, "first_possible")
    assert ("Bound by memory" if is_there else "Can't tell what bounds it: the peaks of this kernel's cpu") in verdict


@pytest.mark.timeout(1800)
def test_the_ledger_tells_that_xla_counted_one_of_twelve_layers(where: nbformat.NotebookNode) -> None:
    text = shown(where, "ins.cost.ledger")
    jaxpr, hlo, xla = figures(text, "FLOPs")
    assert hlo == pytest.approx(jaxpr, rel=0.1)
    assert xla < hlo / 4
    assert "XLA counts the body of a loop once" in text


@pytest.mark.timeout(1800)
def test_the_largest_residuals_come_from_the_attention(where: nbformat.NotebookNode) -> None:
    assert " residual " in shown(where, "ins.memory.peak_set")
    first = shown(where, "ins.memory.residuals()").splitlines()[1]
    cell = next(cell for cell in where.cells if "class Block" in cell.source)
    line = int(first.rpartition(":")[2])
    assert "MultiHeadDotProductAttention" in cell.source.splitlines()[line - 1]


@pytest.mark.timeout(1800)
def test_checkpoint_buys_memory_with_flops(where: nbformat.NotebookNode) -> None:
    before, after = shown(where, "def told").split("donated, with checkpoint")
    needed = [float(re.search(r"needs ([\d.]+) GB", text)[1]) for text in (before, after)]  # type: ignore[index]
    flops = [float(re.search(r"([\d.]+) TFLOP", text)[1]) for text in (before, after)]  # type: ignore[index]
    assert needed[1] < needed[0] / 2
    assert flops[1] > flops[0] * 1.1


# ---- 05 --------------------------------------------------------------------------------------------------------------

SHARDING = "05_sharding_and_collectives.ipynb"


@pytest.fixture(scope="module", params=["v5e", "cpu"])
def sharding(demo: ModuleType, request: pytest.FixtureRequest) -> nbformat.NotebookNode:
    if request.param == "v5e":
        needs("v5e:4x4")
    return run(demo, SHARDING, *([NO_COMPILERS] if request.param == "cpu" else []))


def test_the_all_gather_goes_where_the_text_says_it_does(sharding: nbformat.NotebookNode) -> None:
    first, second = shown(sharding, "ins.collectives"), shown(sharding, "mended = laid_out")
    assert "all-gather" in first
    assert "all-reduce" not in first
    assert "all-gather" not in second
    assert "all-reduce" in second
    before, after = figures(shown(sharding, "def sent"), "before")
    assert after < before


def test_shardings_are_told_with_who_chose_them(sharding: nbformat.NotebookNode) -> None:
    table = shown(sharding, "ins.shardings")
    assert "you" in row(table, "down")
    assert "compiler" in row(table, "result")
    assert "dot_general.0" in shown(sharding, "ins.shardings.all")


def test_sixteen_tpus_or_what_they_lack(sharding: nbformat.NotebookNode) -> None:
    text = shown(sharding, 'print(f"down: {spec}")')
    if "needs libtpu, the TPU compiler: pip" not in text:
        assert "all-gather" in text.split("down: ")[1]
        assert "all-gather" not in text.split("down: ")[2]
        assert " µs " in text


def test_warnings_dtypes_and_live_arrays(sharding: nbformat.NotebookNode) -> None:
    assert "Involuntary full rematerialisation at In [" in shown(sharding, "def mixed")
    assert "promotion" in shown(sharding, "def scaled")
    assert "[0:512, 0:256]" in shown(sharding, "make_mesh((2, 4)")
    assert "JAX refuses it" in shown(sharding, "(2047, 512)")


# ---- without the compilers -------------------------------------------------------------------------------------------


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["02_hardware_you_do_not_have.ipynb", "03_what_the_compiler_did.ipynb"])
def test_a_notebook_says_what_is_missing_and_goes_on(demo: ModuleType, name: str) -> None:
    notebook = run(demo, name, NO_COMPILERS)
    text = "".join(printed(cell) for cell in notebook.cells if cell.cell_type == "code")
    assert "needs JAX's CUDA plugin: pip" in text
    if name.startswith("02"):
        assert "none was too small" in text
        assert "v5e:2x4 needs libtpu" in text
