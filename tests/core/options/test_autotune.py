"""Autotune results: files as XLA writes them, and an absent H100 whose kernels they choose."""

from __future__ import annotations

import functools
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs
from google.protobuf import text_format

import jaxstage_ext
from jaxstage_ext.core.options import autotune
from jaxstage_ext.core.options.autotune import LOAD, SAVE, AutotuneError, read
from jaxstage_ext.core.options.flag_values import OptionError, build
from jaxstage_ext.core.recompile import preparation
from jaxstage_ext.core.targets import gpu_descriptions, packages
from jaxstage_ext.core.targets.target import LOCAL, parse
from jaxstage_ext.worker.inside import executable_artefacts

X = jax.ShapeDtypeStruct((512, 512), jnp.bfloat16)
TILE = "triton { block_m: 64 block_n: 128 block_k: 32 split_k: 1 num_stages: 3 num_warps: 4 num_ctas: 1 }"
FORM = {"xla_gpu_use_new_autotune_cache_format": False}
"""Newer compilers look results up by fingerprints of their own, unless told to take the form that spells them out."""


def dot(x: Any, y: Any) -> Any:
    return x @ y


def spelled(device: str = "CUDA: 9.0, …, DNN version: 9.1.2", hlo: str = "{ dot }", version: int = 1) -> str:
    """AutotuneResults as text."""
    quoted = json.dumps(hlo)
    return f'version: 3\nresults {{ device: "{device}" hlo: {quoted} result {{ {TILE} }} version: {version} }}\n'


def fingerprinted(device: str = "699b92c0fb30cb16", hlo: str = "caf9d643c21ac9d70af876c77a8fb7b1") -> str:
    """AutotuneCache as text."""
    return (
        f'entries {{ key {{ target {{ device: "{device}" hlo_fingerprint: "{hlo}" }} '
        'environment { codegen_version: "elsewhere" } } value { optimal_config { backend: TRITON backend_config { '
        f'{TILE} }} }} optimal_backend_version: "b575c0c38d428a609e25487db64051a5fa7bfab8" }} }}\n'
    )


def binary(text: str, spelled: bool) -> bytes:
    """The same as XLA writes it to a file whose name does not say text; of the fields that are read here."""
    message = autotune._kinds()[spelled]()
    return bytes(text_format.Parse(text, message, allow_unknown_field=True).SerializeToString())


def form() -> dict[str, bool]:
    from jaxstage_ext.core.options import xla_flags

    return {name: value for name, value in FORM.items() if name in xla_flags.installed().by_name}


KEYS = """
import pickle, sys
from pathlib import Path
from jaxstage_ext.worker.inside.compiler import Compiler
Compiler(Path("log"), "dump-")._compiled(**pickle.load(sys.stdin.buffer), flags={flags})
"""


@functools.cache
def key_of_the_dot() -> dict[str, Any]:
    """What XLA looks the dot up by, from its log."""
    prepared = preparation.prepared(jaxstage_ext.inspect(dot, X, X, target="h100").program.staged)
    plugin = packages.find("cuda")
    program = {
        "platform": "cuda",
        "library": plugin.library,
        "kind": gpu_descriptions.name_or_description("h100", plugin.version),
        "topology": "1x1x1",
        **prepared.request,
    }
    done = subprocess.run(
        [sys.executable, "-P", "-c", KEYS.format(flags=form())],
        input=pickle.dumps(program),
        capture_output=True,
        timeout=200,
        env={**os.environ, **autotune.HOW["variables"]},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    keys = re.findall(r"key = <key model='([^']*)', hlo='(.*?)', version=(\d+)>", done.stderr.decode(), re.DOTALL)
    [key] = [{"device": d, "hlo": h, "version": int(v)} for d, h, v in keys if " dot(" in h]
    return key


def tile(inspection: Any) -> str:
    """The tile of the dot's kernel, as the optimised module has it."""
    found = re.search(r'"output_tiles":\[\{"sizes":\[([^]]*)\]', inspection.documents["hlo"].text)
    assert found
    return found[1].replace('"', "")


# ---- compiled with them ----------------------------------------------------------------------------------------------


@pytest.mark.needs("cuda")
@pytest.mark.parametrize("name", ["h100.txt", "h100.pb"])
def test_results_choose_the_kernel_of_an_absent_gpu(tmp_path: Path, name: str) -> None:
    """Text is known as text whatever its file is called: XLA goes by the name, and before 0.12 by nothing else."""
    (tmp_path / name).write_text(spelled(**key_of_the_dot()))
    chosen = jaxstage_ext.inspect(dot, X, X, target="h100", compiler_options=form() | {LOAD: tmp_path / name})
    plain = jaxstage_ext.inspect(dot, X, X, target="h100")
    assert tile(chosen) == "1,64,128" != tile(plain)
    assert f"partly autotuned by {name}" in chosen.summary()["target"]
    assert f"The autotune results of …/{name} decided 1 of the 2 choices that XLA tunes." in chosen.summary()["notes"]
    assert "heuristic, not autotuned" in plain.summary()["target"]


@pytest.mark.needs("cuda")
def test_a_second_look_compiles_with_the_same_results(tmp_path: Path) -> None:
    (tmp_path / "h100.txt").write_text(spelled(**key_of_the_dot()))
    options = form() | {LOAD: tmp_path / "h100.txt"}
    prepared = preparation.prepared(
        jaxstage_ext.inspect(dot, X, X, target="h100", compiler_options=options).program.staged
    )
    assert prepared.key("compile") is None
    assert '"sizes":["1","64","128"]' in prepared.ask("compile", large_constants=False)["text"]


@pytest.mark.needs("cuda")
def test_results_by_fingerprint(tmp_path: Path) -> None:
    """The form that JAX 0.12 records; its fingerprints were read off its own look-ups."""
    if not packages.find("cuda").version.startswith("0.12.0"):
        pytest.skip("the fingerprints are those of jax 0.12.0")
    (tmp_path / "h100.txtpb").write_text(fingerprinted())
    chosen = jaxstage_ext.inspect(dot, X, X, target="h100", compiler_options={LOAD: str(tmp_path / "h100.txtpb")})
    assert tile(chosen) == "1,64,128"
    assert "partly autotuned by h100.txtpb" in chosen.summary()["target"]


@pytest.mark.needs("cuda")
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"device": "CUDA: 8.0, Cores: 108"},
            r"they were recorded on a different GPU \(CUDA: 8.0, Cores: 108; the target is CUDA: 9",
        ),
        ({"hlo": "{ another }"}, "they are for other instructions or other versions"),
    ],
)
def test_results_that_took_no_part_are_told_with_the_reason(tmp_path: Path, changed: dict[str, Any], why: str) -> None:
    (tmp_path / "other.txt").write_text(spelled(**key_of_the_dot() | changed))
    inspection = jaxstage_ext.inspect(
        dot, X, X, target="h100", compiler_options=form() | {LOAD: str(tmp_path / "other.txt")}
    )
    assert "heuristic, not autotuned" in inspection.summary()["target"]
    note = next(note for note in inspection.summary()["notes"] if "applied to" in note)
    assert re.search(r"^None of the 1 result of .*other.txt applied to the 2 choices.*" + why, note)


@pytest.mark.needs("cuda")
def test_the_form_of_another_jax_is_told(tmp_path: Path) -> None:
    text, age = (spelled(), "an older") if form() else (fingerprinted(), "a newer")
    (tmp_path / "other.txt").write_text(text)
    try:
        inspection = jaxstage_ext.inspect(dot, X, X, target="h100", compiler_options={LOAD: tmp_path / "other.txt"})
    except jax.errors.JaxRuntimeError as error:
        assert "autotune results" in str(error)
        return
    assert any(f"they are in the format of {age} JAX" in note for note in inspection.summary()["notes"])


@pytest.mark.needs("cuda")
def test_a_recording_s_cudnn_is_the_described_gpu_s(tmp_path: Path) -> None:
    """Where we describe the GPU, XLA must not take it for another because of cuDNN's version."""
    if gpu_descriptions.in_plugin(packages.find("cuda").version):
        pytest.skip("this CUDA plugin describes GPUs itself")
    key = key_of_the_dot()
    device = key["device"].replace("DNN version: 0.0.0", "DNN version: 9.10.2")
    (tmp_path / "h100.txt").write_text(spelled(**key | {"device": device}))
    chosen = jaxstage_ext.inspect(dot, X, X, target="h100", compiler_options={LOAD: tmp_path / "h100.txt"})
    assert tile(chosen) == "1,64,128"


@pytest.mark.needs("cuda")
def test_a_program_without_choices() -> None:
    told = executable_artefacts.autotuned("nothing of it")
    results = autotune.Results("a.pb", b"", False, ("x",), False)
    assert autotune.tuned(results, told).note == "This XLA does not report whether it used the 1 result of a.pb."
    none = autotune.tuned(results, {"hits": 0, "choices": 0, "device": None})
    assert none.note == "XLA autotunes nothing in this program, so the 1 result of a.pb had no effect."
    every = autotune.tuned(results, {"hits": 3, "choices": 3, "device": "x"})
    assert (every.title, every.note) == (
        "autotuned by a.pb",
        "The autotune results of a.pb decided 3 of the 3 choices that XLA tunes.",
    )


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_spelled", [True, False])
@pytest.mark.parametrize("text", [True, False])
def test_both_forms_are_read_as_text_and_binary(tmp_path: Path, text: bool, is_spelled: bool) -> None:
    content = (spelled() if is_spelled else fingerprinted()) * 2
    content = content.replace("version: 3\n", "", 1) if is_spelled else content
    (tmp_path / "some").write_bytes(content.encode() if text else binary(content, is_spelled))
    results = read(str(tmp_path / "some"))
    device = "CUDA: 9.0, …, DNN version: 9.1.2" if is_spelled else "699b92c0fb30cb16"
    assert (results.text, results.spelled, results.devices) == (text, is_spelled, (device, device))
    assert results.dnn_version == ("9.1.2" if is_spelled else "")


@pytest.mark.parametrize("content", [b"", b"junk\xff\x00\x01", b"version: 3\n", b"PK\x03\x04 no results", b"{" * 5000])
def test_a_damaged_file_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "damaged").write_bytes(content)
    with pytest.raises(AutotuneError, match=r"^'.*damaged' is not a file of autotune results") as failed:
        read(str(tmp_path / "damaged"))
    assert "\n" not in str(failed.value)


def test_a_half_of_a_file_is_noticed(tmp_path: Path) -> None:
    whole = binary(spelled() * 3, True)
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(AutotuneError, match="is not a file of autotune results"):
        read(str(tmp_path / "half"))


@pytest.mark.parametrize(
    ("option", "file", "told"),
    [
        (LOAD, "none.pb", "'.*none.pb' cannot be read: no such file"),
        (LOAD, "", "cannot be read: not a file"),
        (SAVE, "", "cannot be saved to '.*': it is a directory"),
        (SAVE, "none/a.pb", "there is no directory '.*none'"),
    ],
)
def test_what_cannot_be_is_refused_before_compiling(tmp_path: Path, option: str, file: str, told: str) -> None:
    with pytest.raises(OptionError, match=told):
        build(more={option: str(tmp_path / file)})


def test_a_path_is_absolute_and_may_begin_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text(spelled())
    assert build(more={LOAD: "~/a.txt"}) == {LOAD: str(tmp_path / "a.txt")}
    monkeypatch.chdir(tmp_path)
    assert build(["gpu_dump_autotune_results_to=b.pb"]) == {SAVE: str(tmp_path / "b.pb")}


# ---- recorded --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["local", "cpu:2", "h100"])
def test_without_a_gpu_there_is_nothing_to_record(target: str, tmp_path: Path) -> None:
    needs(target)
    path = tmp_path / "a.pb"
    inspection = jaxstage_ext.inspect(jnp.sin, 1.0, target=target, compiler_options={SAVE: path})
    [note] = [note for note in inspection.summary()["notes"] if "autotune results were saved" in note]
    assert note.startswith("No autotune results were saved to …/a.pb: XLA autotunes only on a GPU, and ")
    assert not path.exists()


def test_what_was_recorded_beside_a_gpu_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(fingerprinted() * 2)
    assert "has 2 results: all that XLA has autotuned in this kernel" in autotune.recorded(str(tmp_path / "a.txt"))
    assert "No autotune results were saved: " in autotune.recorded(str(tmp_path / "none.txt"))
    assert "this kernel has none" in autotune.unrecorded("a", LOCAL)
    assert "h100 is compiled without a device" in autotune.unrecorded("a", parse("h100"))
