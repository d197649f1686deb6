"""The parts of keys, against JAX's own key, and how two of them differ, against what was changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cache_folder import CacheFolder
from jax import monitoring

from jaxstage_ext.compilation.persistent import missed_entry, record_store
from jaxstage_ext.compilation.persistent.expected_outcome import outcome_of
from jaxstage_ext.compilation.persistent.key_differences import KeyDifference
from jaxstage_ext.compilation.persistent.missed_entry import MissedEntry
from jaxstage_ext.core.jax_private import cache_key_parts, persistent_cache
from jaxstage_ext.core.jax_private.cache_key_parts import KeyPart

X = np.ones((4, 4), np.float32)


def square(x: Any) -> Any:
    return x @ x


def product(x: Any, y: Any) -> Any:
    return x @ y


def test_the_parts_make_the_key_of_jax(folder: CacheFolder) -> None:
    checked = []

    def on_event(event: str, **details: Any) -> None:
        if event.endswith("compile_requests_use_cache"):
            request = persistent_cache.current_request()
            assert request
            checked.append((cache_key_parts.key_bytes(request).key, request.key))

    monitoring.register_event_listener(on_event)
    try:
        made = folder.compile(square, X)
        folder.compile(square, X, compiler_options={"xla_cpu_enable_fast_math": True})
        folder.compile(product, X, X, donate_argnums=0)
        folder.compile(lambda x: jax.random.normal(jax.random.key(0), x.shape) + x, X)
    finally:
        monitoring.unregister_event_listener(on_event)
    assert len(checked) >= 4
    assert made.key in folder.entries()
    assert [ours for ours, _ in checked] == [jaxs for _, jaxs in checked]


@pytest.mark.parametrize("options", [{}, {"xla_cpu_enable_fast_math": True}], ids=["plain", "option"])
def test_hit_or_miss_is_known_before_compiling(folder: CacheFolder, options: dict[str, Any]) -> None:
    def lowered() -> Any:
        jax.clear_caches()
        return jax.jit(square).lower(X)

    expected = outcome_of(lowered(), options)
    assert expected.is_hit is False
    assert folder.entries() == []
    lowered().compile(options)
    assert folder.facts[-1].key == expected.key
    hit = outcome_of(lowered(), options)
    assert (hit.is_hit, hit.key) == (True, expected.key)
    assert [expected.key] == folder.entries()


def test_a_sharded_program_has_the_key_of_its_compile(folder: CacheFolder) -> None:
    mesh = jax.make_mesh((2,), ("a",))
    x = jax.device_put(X, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("a")))
    expected = outcome_of(jax.jit(square).lower(x))
    assert folder.compile(square, x).key == expected.key


def test_no_folder_and_no_key_say_why(folder: CacheFolder) -> None:
    assert outcome_of("no lowering").reason.startswith("the key cannot be made")
    folder.use()
    jax.config.update("jax_compilation_cache_dir", None)
    assert outcome_of(jax.jit(square).lower(X)).reason == "no folder is in use"


def missed(folder: CacheFolder) -> MissedEntry:
    """How the last compile's key differs from the nearest entry before it."""
    facts = folder.facts[-1]
    own = record_store.records_of(str(folder.path)).get(facts.key)
    assert own
    return missed_entry.nearest_to(own, str(folder.path), own.written)


def only(differences: tuple[KeyDifference, ...]) -> dict[tuple[KeyPart, str], tuple[str, str]]:
    return {(each.part, each.what): (each.before, each.now) for each in differences if each.what != "text"}


def test_the_first_entry_of_a_name_has_no_neighbour(folder: CacheFolder) -> None:
    folder.compile(square, X)
    folder.compile(product, X, X)
    assert missed(folder).reason == "no earlier entry of jit_product was recorded in this folder"


def test_another_shape_is_a_signature(folder: CacheFolder) -> None:
    folder.compile(square, X)
    folder.compile(square, np.ones((8, 8), np.float32))
    [(where, (before, now))] = only(missed(folder).differences).items()
    assert where == (KeyPart.COMPUTATION, "signature")
    assert "tensor<4x4xf32>" in before
    assert "tensor<8x8xf32>" in now


def test_other_operations_are_counted(folder: CacheFolder) -> None:
    def body(extra: bool) -> Callable[..., Any]:
        def f(x: Any) -> Any:
            return jnp.sin(x) @ x if extra else x @ x

        return f

    folder.compile(body(False), X)
    folder.compile(body(True), X)
    assert only(missed(folder).differences) == {(KeyPart.COMPUTATION, "ops"): ("0 stablehlo.sine", "1 stablehlo.sine")}


def test_another_constant_is_in_the_text_alone(folder: CacheFolder) -> None:
    def body(value: float) -> Callable[..., Any]:
        def f(x: Any) -> Any:
            return x * value

        return f

    folder.compile(body(2.0), X)
    folder.compile(body(3.0), X)
    [text] = missed(folder).differences
    assert text.what == "text"
    changed = [line for line in text.diff if line[0] in "+-"]
    assert any("2.0" in line for line in changed if line[0] == "-")
    assert any("3.0" in line for line in changed if line[0] == "+")


def test_donation_is_named_and_no_signature(folder: CacheFolder) -> None:
    folder.compile(product, X, X)
    folder.compile(product, X, X, donate_argnums=0)
    assert only(missed(folder).differences) == {(KeyPart.COMPUTATION, "donation"): ("none donated", "1 donated")}


def test_a_compiler_option_is_named(folder: CacheFolder) -> None:
    folder.compile(square, X)
    folder.compile(square, X, compiler_options={"xla_cpu_enable_fast_math": True})
    assert only(missed(folder).differences) == {
        (KeyPart.OPTIONS, "compiler_options.xla_cpu_enable_fast_math"): ("", "True")
    }


def test_a_jax_config_that_sets_an_option_is_named(folder: CacheFolder) -> None:
    folder.compile(square, X)
    jax.config.update("jax_optimization_level", "O1")
    try:
        folder.compile(square, X)
    finally:
        jax.config.update("jax_optimization_level", "UNKNOWN")
    assert [what for _, what in only(missed(folder).differences)] == ["optimization_level"]


def test_another_device_is_a_device_assignment(folder: CacheFolder) -> None:
    folder.compile(square, jax.device_put(X, jax.devices()[0]))
    folder.compile(square, jax.device_put(X, jax.devices()[1]))
    assert {part for part, _ in only(missed(folder).differences)} == {KeyPart.OPTIONS}


CODE = "import json; f = jax.jit(lambda x: jnp.sin(x) @ x); f(jnp.ones((4, 4)))\n"
MISSED = """
from jaxstage_ext.compilation.persistent import missed_entry, record_store
facts = all_facts[-1]
own = record_store.records_of(facts.folder).get(facts.key)
result = missed_entry.nearest_to(own, facts.folder, own.written)
print(facts.outcome.name, [(d.part.name, d.what, d.before, d.now) for d in result.differences])
"""


def test_a_flag_of_another_process_is_named(folder: CacheFolder) -> None:
    folder.process(CODE)
    said = folder.process(CODE + MISSED, XLA_FLAGS="--xla_cpu_enable_fast_min_max=true")
    assert said.startswith("WRITTEN [('FLAGS', '--xla_cpu_enable_fast_min_max', '', 'true')")


def test_the_number_of_devices_is_named(folder: CacheFolder) -> None:
    folder.process(CODE, JAX_NUM_CPU_DEVICES="1")
    said = folder.process(CODE + MISSED, JAX_NUM_CPU_DEVICES="3")
    assert said == "WRITTEN [('DEVICES', 'devices', '1 of 1 cpu devices', '1 of 3 cpu devices')]\n"


def test_the_compression_is_named(folder: CacheFolder, tmp_path: Path) -> None:
    """Installing `zstandard` loses every entry; Python 3.14 has zstd, and JAX does not look for that package."""
    (tmp_path / "zstandard.py").write_text(
        "import io, zlib\n"
        "class ZstdCompressor:\n    compress = staticmethod(zlib.compress)\n"
        "class ZstdDecompressor:\n    decompress = staticmethod(zlib.decompress)\n"
        "    stream_reader = staticmethod(lambda data: io.BytesIO(zlib.decompress(data)))\n"
    )
    folder.process(CODE)
    said = folder.process(f"{CODE}{MISSED}", PYTHONPATH=os.pathsep.join([str(tmp_path), *__import__("sys").path]))
    lost = "WRITTEN [('COMPRESSION', 'compression', 'zlib', 'zstandard')]\n"
    assert said == (lost if sys.version_info < (3, 14) else "HIT []\n")


def test_another_jaxlib_is_named(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src import cache_key

    folder.compile(square, X)
    monkeypatch.setattr(cache_key, "jaxlib_version_str", "0.99.0")
    monkeypatch.setattr(cache_key_parts.jaxlib.version, "__version__", "0.99.0")
    folder.compile(square, X)
    [(where, (_, now))] = only(missed(folder).differences).items()
    assert where == (KeyPart.JAXLIB, "jaxlib version")
    assert now == "0.99.0"


def test_a_jax_that_makes_keys_otherwise_has_no_parts(folder: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A self-check: the key is shown, and nothing is said of its parts."""
    from jax._src import cache_key

    monkeypatch.setattr(cache_key, "custom_hook", iter("abcdefgh").__next__)
    made = folder.compile(square, X)
    assert [made.key] == folder.entries()
    assert record_store.records_of(str(folder.path)).listed() == []


def test_the_nearest_entry_has_the_fewest_differing_parts(folder: CacheFolder) -> None:
    """A compiler option alone, not the shape and the option, though that entry is newer."""
    near = folder.compile(square, X)
    folder.compile(square, np.ones((8, 8), np.float32))
    folder.compile(square, X, compiler_options={"xla_cpu_enable_fast_math": True})
    found = missed(folder)
    assert found.nearest
    assert found.nearest.key == near.key
    assert {part for part, _ in only(found.differences)} == {KeyPart.OPTIONS}
