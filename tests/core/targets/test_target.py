"""Targets: what a user may write, what is said of what they may not, and what an Inspection says about them."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from absent import needs
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
from magic_shell import Shell, fresh_shell
from mosaic_kernels import profiled_kernel

import jaxstage_ext
from jaxstage_ext.api.inspection import Inspection
from jaxstage_ext.core.targets import packages
from jaxstage_ext.core.targets.devices import CATALOGUE
from jaxstage_ext.core.targets.target import GPUS, TPUS, TargetError, parse, parse_all
from jaxstage_ext.report.unavailable import Unavailable

W, X = jnp.ones((4, 3)), jnp.ones((2, 4))


def loss(w, x):
    return jnp.sum(jnp.tanh(x @ w))


@pytest.fixture
def shell():
    with fresh_shell() as shell:
        yield shell


@pytest.mark.parametrize(
    ("text", "platform", "topology", "devices"),
    [
        ("cpu", "cpu", "", 1),
        ("cpu:8", "cpu", "", 8),
        ("v5e:4x4", "tpu", "v5e:4x4", 16),
        ("V5E:4x4", "tpu", "v5e:4x4", 16),
        ("v4:2x2x1", "tpu", "v4:2x2x1", 4),
        ("v5p:8x8x16", "tpu", "v5p:8x8x16", 1024),
        ("tpu7x:2x2x1", "tpu", "tpu7x:2x2x1", 8),
        ("v2", "tpu", "v2:1x1", 2),
        ("v3", "tpu", "v3:1x1", 2),
        ("v4", "tpu", "v4:1x1x1", 1),
        ("v5e", "tpu", "v5e:1x1", 1),
        ("v5p", "tpu", "v5p:1x1x1", 1),
        ("v6e", "tpu", "v6e:1x1", 1),
        ("tpu7x", "tpu", "tpu7x:1x1x1", 2),
        ("h100", "cuda", "1x1x1", 1),
        ("h100:8", "cuda", "1x1x8", 8),
        ("h100:2x8", "cuda", "1x2x8", 16),
        ("rtx_pro_6000", "cuda", "1x1x1", 1),
    ],
)
def test_a_target_is_parsed(text: str, platform: str, topology: str, devices: int) -> None:
    target = parse(text)
    assert (target.platform, target.topology, target.devices) == (platform, topology, devices)
    assert parse(str(target)) == target


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("v5f:2x2", "did you mean"),
        ("v5litepod:2x2", "did you mean v5e?"),
        ("v7x:2x2x1", "did you mean tpu7x?"),
        ("h10", "did you mean h100?"),
        ("quantum", "the targets are local, cpu, v2"),
        ("v5e:4", "2 axes"),
        ("v5e:4x4x4", "2 axes"),
        ("v4:4x4", "3 axes"),
        ("v5e:0x4", "zero"),
        ("v5e:32x32", "at most 256"),
        ("v5p:32x32x32", "at most 8,960"),
        ("cpu:0", "zero"),
        ("cpu:2x2", "a number of devices"),
        ("cpu:100000", "from 1 to 4,096"),
        ("h100:2x2x2", "hosts x GPUs"),
        ("local:4", "cpu:4"),
        ("v100", "CUDA 13"),
        ("p100:8", "CUDA 13"),
        ("mi300x", "AMD"),
        ("", "is not a target"),
        ("v5e:-2x2", "is not a target"),
        ("v5e:２x２", "is not a target"),
        ("h100; rm", "is not a target"),
    ],
)
def test_what_is_no_target_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(TargetError, match=said) as failed:
        parse(text)
    assert "\n" not in str(failed.value)
    assert len(str(failed.value)) < 200


@pytest.mark.parametrize("given", [3, None, jnp.ones(3), ["cpu:2", 4], []])
def test_a_target_that_is_no_text_is_told_so(given: object) -> None:
    with pytest.raises((TargetError, TypeError)):
        parse_all(given)


@pytest.mark.parametrize("nothing", [None, []])
def test_no_target_at_all_is_an_error_that_says_so(nothing: object) -> None:
    with pytest.raises(TargetError, match="names no target; leave it out"):
        parse_all(nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", TPUS)
def test_a_tpu_alone_compiles_for_one_chip(kind: str) -> None:
    needs(kind)
    compiled = jaxstage_ext.inspect(lambda x: x @ x, jnp.ones((8, 8)), target=kind)
    assert compiled.error is None
    assert [str(target) for target in compiled.targets] == [kind]
    assert parse(kind).chips == 1


def test_the_same_target_twice_counts_once() -> None:
    assert [str(target) for target in parse_all(["cpu:2", "local", "cpu:2"])] == ["cpu:2", "local"]


def test_every_device_is_in_the_catalogue_and_unknown_figures_are_none() -> None:
    assert set(CATALOGUE) == {*TPUS, *GPUS}
    for device in CATALOGUE.values():
        figures = (device.memory, device.bandwidth, device.on_chip, device.interconnect, *device.flops.values())
        assert all(figure is None or figure > 1e6 for figure in figures)


@pytest.mark.parametrize("text", ["v5e:2x2", "h100"])
def test_a_missing_package_is_told_with_the_pip_command(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_folders", lambda package: [])
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    with pytest.raises(TargetError, match=r'pip install "jaxstage-ext\[(tpu|cuda)\]"') as failed:
        jaxstage_ext.inspect(loss, W, X, target=text)
    assert "\n" not in str(failed.value)


def test_an_inspection_for_another_target_answers_as_any_other() -> None:
    inspection = jaxstage_ext.inspect(loss, W, X, target="cpu:2")
    assert list(inspection.documents) == ["python", "jaxpr", "stablehlo", "hlo"]
    assert inspection.documents["hlo"].text.startswith("HloModule jit_loss")
    assert inspection.documents["hlo"].coverage.share == 1
    assert inspection.seconds["compile"] > 0
    summary = inspection.summary()
    assert summary["target"].startswith("cpu:2 · ")
    facts = {fact["label"]: fact["text"] for fact in summary["facts"]}
    assert facts["FLOPs"] == "53 FLOP"
    assert facts["transcendentals"] == "6"
    assert facts["bytes moved"] == "132 B"
    assert any("1 of the target's 2 devices" in note for note in summary["notes"])
    assert Inspection.from_json(inspection.to_json()).summary() == summary | {"views": ["code"]}


def test_the_inspection_answers_for_the_first_of_several_targets() -> None:
    inspection = jaxstage_ext.inspect(loss, W, X, target=["cpu:2", "local"])
    assert list(inspection.targets) == ["cpu:2", "local"]
    assert inspection.targets["cpu:2"] is inspection
    local = inspection.targets["local"]
    assert local.targets["cpu:2"] is inspection
    assert local.traced is inspection.traced
    assert local.documents["hlo"].text == inspection.documents["hlo"].text
    assert [one.summary()["name"] for one in local.targets.values()] == ["loss · cpu:2", "loss · local"]
    assert float(local.execute(*())) == float(loss(W, X))
    with pytest.raises(ValueError, match="compiled for cpu:2"):
        inspection.execute()
    assert "cpu:2" in repr(inspection) and "cpu · jax" in repr(inspection)


def test_one_target_that_fails_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = AbstractMesh((4,), ("d",))
    shape = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("d")))
    inspection = jaxstage_ext.inspect(lambda x: jnp.tanh(x) + 1, shape, target=["cpu:4", "cpu:2"])
    assert inspection.error is None
    assert "num_partitions=4" in inspection.documents["hlo"].text
    error = inspection.targets["cpu:2"].error
    assert (error.stage, error.type) == ("compile", "Unavailable")
    assert error.message == ("the program's mesh has 4 devices, but cpu:2 has 2; use a smaller mesh or a larger target")


def test_a_mesh_larger_than_the_target_is_raised_in_one_line() -> None:
    mesh = AbstractMesh((8,), ("d",))
    shape = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("d")))
    with pytest.raises(Unavailable, match="mesh has 8 devices, but cpu:4 has 4"):
        jaxstage_ext.inspect(jnp.sum, shape, target="cpu:4")


def test_a_callback_for_an_absent_device_is_explained_before_anything_is_compiled() -> None:
    def talks(x):
        jax.debug.print("x {}", x)
        return x + 1

    assert jaxstage_ext.inspect(talks, W, target="cpu:2").error is None
    with pytest.raises(Unavailable, match="calls back into Python"):
        jaxstage_ext.inspect(talks, W, target="v5e:2x2", stage="lower")


def test_lowering_needs_no_package() -> None:
    inspection = jaxstage_ext.inspect(loss, W, X, target="h100:8", stage="lower")
    assert "stablehlo.dot_general" in inspection.documents["stablehlo"].text


def test_linear_algebra_compiles_as_it_does_here() -> None:
    inspection = jaxstage_ext.inspect(jnp.linalg.svd, jnp.ones((4, 4)), target=["cpu:1", "local"])
    texts = [one.documents["hlo"].text for one in inspection.targets.values()]
    assert "lapack" in texts[0]
    assert texts[0] == texts[1]


def test_a_custom_call_that_only_the_kernel_knows_is_explained() -> None:
    jax.ffi.register_ffi_target("jaxstage_test_only", _capsule(), platform="cpu", api_version=1)
    called = jax.ffi.ffi_call("jaxstage_test_only", jax.ShapeDtypeStruct((4,), jnp.float32))
    with pytest.raises(
        Unavailable, match=r"jaxstage_test_only, a custom call that the compiler for cpu:1 does not have"
    ):
        jaxstage_ext.inspect(lambda x: called(x), jnp.ones(4), target="cpu:1")


def _capsule() -> object:
    from jaxlib import lapack

    return lapack._lapack.registrations()["lapack_sgetrf_ffi"]


def test_large_constants_are_left_out_of_the_text_as_for_local() -> None:
    big, small = (np.random.default_rng(0).random(n, np.float32) for n in (5_000_000, 100))
    for constant, spelled in ((big, False), (small, True)):
        inspection = jaxstage_ext.inspect(lambda x, c=constant: (x + c).sum(), 1.0, target=["cpu:1", "local"])
        texts = [one.documents["hlo"].text for one in inspection.targets.values()]
        assert texts[0] == texts[1]
        assert ("{...}" not in texts[0]) == spelled


@pytest.mark.parametrize(("target", "said"), [("v5e:2x2", "libtpu"), ("h100", "heuristic choice, not autotuned")])
def test_how_it_was_compiled_is_said(target: str, said: str) -> None:
    platform = parse(target).platform
    needs(platform)
    summary = jaxstage_ext.inspect(loss, W, X, target=target).summary()
    assert said in summary["notes"][0]
    assert ("heuristic, not autotuned" in summary["target"]) == (platform == "cuda")


@pytest.mark.parametrize("kind", GPUS)
def test_every_gpu_that_is_offered_compiles(kind: str) -> None:
    needs("cuda")
    inspection = jaxstage_ext.inspect(loss, W, X, target=kind)
    assert inspection.documents["hlo"].coverage.share == 1


@pytest.mark.parametrize("target", TPUS.values())
def test_every_tpu_that_is_offered_compiles(target: str) -> None:
    needs("tpu")
    assert jaxstage_ext.inspect(loss, W, X, target=target).documents["hlo"].coverage.share == 1


def test_a_topology_that_hosts_cannot_make_is_explained() -> None:
    needs("tpu")
    with pytest.raises(
        Unavailable,
        match=r"v5e from hosts of 2x2x1 chips, and v5e:3x3 is not a multiple of that; use for example v5e:2x2",
    ):
        jaxstage_ext.inspect(loss, W, X, target="v5e:3x3")


def test_what_does_not_fit_is_said() -> None:
    needs("cuda")
    shape = jax.ShapeDtypeStruct((200_000, 200_000), jnp.float32)
    notes = jaxstage_ext.inspect(lambda x: x @ x.T, shape, target="h100").summary()["notes"]
    least = "at least " if jax.__version_info__ < (0, 12) else ""  # XLA gave no total
    assert f"Does not fit: it needs {least}320 GB of the 84.9 GB of one NVIDIA H100 SXM (377%)." in notes


def test_flops_of_a_library_call_that_nobody_gives_are_left_open() -> None:
    needs("cuda")
    summary = jaxstage_ext.inspect(jnp.linalg.eigh, jnp.ones((64, 64)), target="h100").summary()
    [flops] = [fact for fact in summary["facts"] if fact["label"] == "FLOPs"]
    assert flops["text"].startswith("at least ")
    assert "not counted" in flops["note"]


def test_a_mosaic_kernel_that_records_a_profile_compiles_for_an_absent_gpu(tmp_path: Path) -> None:
    needs("cuda")
    jaxstage_ext.inspect(
        lambda x: jnp.sin(x) @ x, jnp.ones((64, 64)), target="h100"
    )  # after which it needs a new process
    ins = jaxstage_ext.inspect(profiled_kernel(str(tmp_path)), jnp.ones(128), target="h100")
    assert "mosaic_gpu_v2" in str(ins.documents["hlo"].text)
    assert "Left out: the callback that writes the on-device profile of scale." in ins.summary()["notes"]


# ---- magics ---------------------------------------------------------------------------------------------------


def test_a_cell_for_several_targets_shows_one_panel_each_and_binds_the_first(shell: Shell) -> None:
    seen = shell.run("%%compile -t local --target cpu:2 -o ins\nloss(w, x)")
    assert seen.ok, seen.text
    assert len(seen.panels) == 2
    assert list(shell["ins"].targets) == ["local", "cpu:2"]
    assert "cpu:2 · cpu, 1 of 2 devices used" in seen.text


def test_run_uses_the_executable_of_this_kernel(shell: Shell) -> None:
    assert float(shell.run("%compile -q --run -t cpu:2 -t local loss(w, x)").value) == float(shell["loss"](W, X))


def test_isolate_compiles_local_in_another_process(shell: Shell) -> None:
    assert shell.run("ins = %compile -q --isolate loss(w, x)").ok
    assert list(shell["ins"].targets) == ["local"]
    assert shell["ins"].documents["hlo"].text == jaxstage_ext.inspect(shell["loss"], W, X).documents["hlo"].text
    with pytest.raises(ValueError, match="worker process"):
        shell["ins"].execute()


def test_a_large_program_is_compiled_in_a_worker_unless_the_line_says_otherwise(shell: Shell) -> None:
    assert shell.run("%load_ext jaxstage_ext\n%config JAXStage.large_program = 1").ok
    try:
        seen = shell.run("%compile --run loss(w, x)")
        assert len(seen.panels) == 1
        assert "are more than the 1 of %config JAXStage.large_program; --no-isolate" in " ".join(seen.text.split())
        assert "UsageError: --run needs an executable in this kernel, but a worker compiled it" in seen.text
        assert float(shell.run("%compile -q --run --no-isolate loss(w, x)").value) == float(shell["loss"](W, X))
        assert float(shell.run("%profile -q loss(w, x)").value) == float(shell["loss"](W, X))
    finally:
        shell.run("%config JAXStage.large_program = 4000")
    assert shell.run("%compile -q --run loss(w, x)").ok


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%compile --isolate --no-isolate loss(w, x)", "contradict each other"),
        ("%compile -t v5q:2x2 loss(w, x)", "did you mean"),
        ("%compile -t v5e:2 loss(w, x)", "2 axes"),
        ("%compile --run -t cpu:2 loss(w, x)", "no target is local"),
        ("%compile --run --isolate loss(w, x)", "--isolate compiles in another process"),
        ("%compile --timeout soon loss(w, x)", "number of seconds"),
        ("%compile --timeout -1 loss(w, x)", "number of seconds"),
        ("%trace -t cpu:2 loss(w, x)", "unknown option -t"),
        ("%targets all", "%targets takes only --log or --measure, not 'all'"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_runs(shell: Shell, line: str, said: str) -> None:
    seen = shell.run(line)
    assert said in seen.text
    assert seen.text.startswith("UsageError: ")
    assert len(seen.text.strip().splitlines()) == 1


def test_a_wrong_target_stops_a_cell_before_it_runs(shell: Shell) -> None:
    seen = shell.run("%%compile -t nowhere\nran = True\nloss(w, x)")
    assert not seen.ok
    assert "ran" not in shell


def test_targets_lists_everything_with_what_it_lacks(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "_folders", lambda package: [])
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    lines = shell.run("%targets").text.splitlines()
    assert lines[0].startswith("✓ local")
    named = {line.split()[1].split(":")[0]: line for line in lines}
    assert set(named) == {"local", "cpu", *TPUS, *GPUS}
    assert all(named[kind].startswith("✗") and "jaxstage-ext[tpu]" in named[kind] for kind in TPUS)
    assert all(named[kind].startswith("✗") and "jaxstage-ext[cuda]" in named[kind] for kind in GPUS)


def test_unloading_takes_targets_away(shell: Shell) -> None:
    shell.ip.run_line_magic("unload_ext", "jaxstage_ext")
    assert "targets" not in shell.ip.magics_manager.magics["line"]
    shell.ip.run_line_magic("load_ext", "jaxstage_ext")


@pytest.mark.parametrize(
    ("target", "mesh", "used"),
    [
        ("h100:8", None, "1 of 8 GPUs used"),
        ("v5e:2x4", None, "1 of 8 chips used"),
        ("tpu7x", None, "1 of 2 devices used"),
        ("h100:8", "data=4", "4 of 8 GPUs used"),
        ("h100:8", "data=8", ""),
        ("h100", None, ""),
    ],
)
def test_figures_of_a_part_of_a_target_say_so(target: str, mesh: str | None, used: str) -> None:
    """A program without a mesh runs on one device: XLA's device assignment names one."""
    needs(target)
    inspection = jaxstage_ext.inspect(loss, W, jnp.ones((8, 4)), target=target, mesh=mesh)
    said = {
        "header": inspection.summary()["target"],
        "compare": str(inspection.compare()),
        "bound": inspection.answers["answer"][0],
        "fit": inspection.answers["answer"][1],
        "text": repr(inspection),
    }
    without = [where for where, text in said.items() if used not in " ".join(text.split())]
    assert without == []
    if not used:
        assert not [where for where, text in said.items() if " used" in text]
