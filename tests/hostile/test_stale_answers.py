"""No stale answer: whatever changes between two looks, each shows what a new process would compile at that moment.

The workers are simulated: their answer is a digest of all that a compiler's process depends on, which is what it was
born with (variables, working directory) and what it has loaded once (library, files), as XLA and libtpu do.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from absent import needs

from jaxstage_ext import inspect
from jaxstage_ext.core.jax_private import lowered_modules
from jaxstage_ext.core.options import autotune, flag_values
from jaxstage_ext.core.recompile import machine_code, pass_pipeline, preparation
from jaxstage_ext.core.stage.stage_definition import LOWER
from jaxstage_ext.core.stage.staged import Staged
from jaxstage_ext.core.targets import prepared
from jaxstage_ext.report.unavailable import Unavailable
from jaxstage_ext.store import cache
from jaxstage_ext.worker import compile_environment, pool
from jaxstage_ext.worker.inside.version_encoder import VersionEncoder
from tests.helpers.attack import Attack

STEPS = 10
"""Changes and looks of one attempt."""
OVERRIDE, LAYOUT = "xla_gpu_gemm_autotuner_override_file", "xla_tpu_autofdo_proposed_layout_file"
RESULTS = 'version: 3\nresults {{ device: "CUDA: 9.0, DNN version: 9.1.{}" hlo: "{{ dot }}" version: 1 }}\n'
TEXT = "HloModule m_{}\n\nENTRY %main (a: f32[]) -> f32[] {{\n  ROOT %a = f32[] parameter(0)\n}}\n"
VARIABLES = {
    "LIBTPU_INIT_ARGS": ("--xla_tpu_rwb_fusion=false", f"--{LAYOUT}=layout.pb", ""),
    "XLA_FLAGS": ("--xla_cpu_enable_fast_math=true", f"--{OVERRIDE}=over.txtpb --xla_a=1", "flags.txt"),
    "PJRT_NPROC": ("1", "2"),
    "TRITON_F32_DEFAULT": ("tf32", "ieee"),
    "TPU_MEGACORE": ("dense", "no"),
}
FILES = ("over.txtpb", "results.txtpb", "layout.pb", "flags.txt")
TARGETS = ("v5e:2x2", "h100", "cpu:2")
PATH = re.compile(r"/[^\s\"'=\x00-\x1f]*(?:over\.txtpb|layout\.pb|flags\.txt)")


def content(path: str) -> str:
    return Path(path).read_text() if Path(path).is_absolute() and Path(path).exists() else "missing"


def digest(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def answer(variables: Mapping[str, str], read: Callable[[str], str], library: str, request: Mapping[str, Any]) -> str:
    """What a compiler makes of a request: of its variables, of what it reads, and of its library."""
    flags = {n: variables.get(n, "").split("--xla_jf_dump_to")[0].strip() for n in compile_environment.READ_BY_XLA}
    others = {n: value for n, value in variables.items() if n not in flags}
    options = request["options"]
    named = sorted({*PATH.findall(" ".join(flags.values())), *PATH.findall(options.decode("latin-1"))})
    results = (request.get("autotune") or ("", b""))[1]
    return digest(sorted(others.items()), flags, [read(path) for path in named], library, options, results)


class SimulatedWorker:
    """A worker's process. It keeps what it has read."""

    during: Callable[[], None] | None = None

    def __init__(self, platform: str, idle: float, environment: Any, variables: Mapping[str, str]) -> None:
        self.environment, self.folder, self.pid = environment, Path("/nowhere"), 0
        self.alive = self.usable = True
        given = {**compile_environment.process_environment(environment), **variables}
        self._variables = {name: value for name, value in given.items() if compile_environment.decides(name)}
        self._read: dict[str, str] = {}

    def _once(self, path: str) -> str:
        return self._read.setdefault(path, content(path))

    def ask(self, request: dict[str, Any], *limits: Any) -> Any:
        during, SimulatedWorker.during = SimulatedWorker.during, None
        if during is not None:
            during()
        library = self._once(request["library"]) if request["platform"] == "tpu" else ""
        made = answer(self._variables, self._once, library, request)
        if request["method"] == "bundles":
            return [(made, zlib.compress(b""))]
        encoder = VersionEncoder()
        encoder.add(text := TEXT.format(made))
        head = {"passes": [["", "dce", 1e-3, None]], "notes": [], "text_bytes": len(text)}
        return {"head": head, "parts": encoder.pack()}

    def kill(self) -> None:
        self.alive = self.usable = False

    close = stop = kill


class World:
    """A kernel, its folders and its panels."""

    def __init__(self, folder: Path, rng: random.Random, bases: Mapping[str, Staged]) -> None:
        self.rng, self.bases = rng, bases
        self.folders = [folder / "a", folder / "b"]
        self.library = folder / "libtpu.so"
        self.panels: list[tuple[Staged, dict[str, str]]] = []

    def start(self) -> None:
        pool._slots.clear()
        cache.clear()
        for name in VARIABLES:
            os.environ.pop(name, None)
        for folder in self.folders:
            folder.mkdir(exist_ok=True)
            for name in FILES:
                (folder / name).write_text(RESULTS.format(0) if name == "results.txtpb" else "0")
        os.environ["TPU_LIBRARY_PATH"] = str(self.library)
        self.replace_library()
        os.chdir(self.folders[0])

    def change(self) -> None:
        self.rng.choice([self.set_variable, self.write_file, self.replace_library, self.move, self.forget])()

    def set_variable(self) -> None:
        name = self.rng.choice(sorted(VARIABLES))
        os.environ.pop(name, None)
        if self.rng.random() < 0.7:
            os.environ[name] = self.rng.choice(VARIABLES[name])

    def write_file(self) -> None:
        name, number = self.rng.choice(FILES), self.rng.randrange(3)
        text = RESULTS.format(number) if name == "results.txtpb" else str(number)
        (self.rng.choice(self.folders) / name).write_text(text)

    def replace_library(self) -> None:
        """Another one of the same size, age and version."""
        self.library.write_text(f"library {self.rng.randrange(3)}")
        os.utime(self.library, (10**9, 10**9))

    def move(self) -> None:
        os.chdir(self.rng.choice(self.folders))

    def forget(self) -> None:
        cache.clear()

    def options(self) -> dict[str, Any]:
        given: list[dict[str, Any]] = [{}, {"xla_backend_optimization_level": 0}, {OVERRIDE: "over.txtpb"}]
        return self.rng.choice([*given, {autotune.LOAD: "results.txtpb"}])

    def files(self) -> dict[Path, str]:
        paths = [self.library, *(folder / name for folder in self.folders for name in FILES)]
        return {path: path.read_text() for path in paths}

    def restore(self, files: Mapping[Path, str]) -> None:
        for path, text in files.items():
            path.write_text(text)
        os.utime(self.library, (10**9, 10**9))

    def program(self) -> tuple[Staged, dict[str, Any]]:
        return self.bases[self.rng.choice(sorted(self.bases))], self.options()

    def look(self, program: tuple[Staged, dict[str, Any]] | None = None) -> tuple[Staged, dict[str, str]]:
        """A new panel, and what it is to show: by hand, from the files and variables of this moment."""
        base, given = program or self.program()
        checked = flag_values.check(given)
        staged = Staged(replace(base.call, compiler_options=checked), base.stages, base.target, base.limits)
        lowered = base.value(LOWER)
        staged.environment = prepared.environment_of(lowered, base.target, checked)
        panel = staged, self.truth(lowered, base.target.platform, given)
        self.panels.append(panel)
        return panel

    def truth(self, lowered: Any, platform: str, given: Mapping[str, Any]) -> dict[str, str]:
        here, results = os.getcwd(), b""
        options = {name: f"{here}/{value}" if name == OVERRIDE else value for name, value in given.items()}
        if autotune.LOAD in options:
            results = Path("results.txtpb").read_bytes() if platform == "cuda" else b""
            options[autotune.LOAD] = ""
        _, raw = lowered_modules.compile_request(lowered, platform, [0], options)
        variables = {**os.environ, **compile_environment.FIXED}
        variables = {name: value for name, value in variables.items() if compile_environment.decides(name)}
        for name in compile_environment.READ_BY_XLA:
            if name in variables:
                variables[name] = re.sub(
                    r"(?<![/\w])(over\.txtpb|layout\.pb|flags\.txt)", rf"{here}/\1", variables[name]
                )
        request = {"options": raw, "autotune": ("", results)}
        library = content(str(self.library)) if platform == "tpu" else ""
        return {"answer": answer(variables, content, library, request), "platform": platform}


def shown(staged: Staged, method: str) -> str:
    if method == "bundles":
        made = preparation.prepared(staged)
        return next(iter(machine_code.final_bundles(made, staged.limits, None)))
    return re.search(r"m_(\w+)", pass_pipeline.recompile_passes(staged).versions[0])[1]  # type: ignore[index]


@pytest.fixture
def bases() -> dict[str, Staged]:
    for target in TARGETS:
        needs(target)
    x = jax.ShapeDtypeStruct((4, 4), jnp.float32)
    return {t: inspect(lambda x: jnp.tanh(x @ x), x, target=t, stage="lower").program.staged for t in TARGETS}


@pytest.mark.parametrize("where", ["memory", "folder"])
def test_changes_between_looks(
    where: str, bases: dict[str, Staged], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any
) -> None:
    """Also changes while a worker is asked, and panels of earlier moments, whose other tabs are opened."""
    monkeypatch.setattr(pool, "Worker", SimulatedWorker)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    monkeypatch.chdir(tmp_path)
    attack = Attack(f"changes between looks ({where})", attempts=1_000, in_ci=30, request=request)
    for number, rng in enumerate(attack):
        world = World(tmp_path, rng, bases)
        world.start()
        cache.use_folder(tmp_path / f"cache{number % 2}" if where == "folder" else None)
        for _ in range(STEPS):
            attack.ended(one_step(world, rng))
    pool._slots.clear()


def one_step(world: World, rng: random.Random) -> str:
    kind, method = rng.choice(["change", "look", "look", "race", "old panel"]), rng.choice(["passes", "bundles"])
    if kind == "change" or (kind == "old panel" and not world.panels):
        world.change()
        return "changes"
    if kind == "race":
        return race(world, rng, method)
    staged, truth = world.look() if kind == "look" else rng.choice(world.panels)
    try:
        assert shown(staged, method) == truth["answer"], f"{kind}: {staged.target}, {method}"
    except Unavailable:
        assert kind == "old panel"
        return "old panels refused"
    return f"{kind}s right"


def race(world: World, rng: random.Random, method: str) -> str:
    """Something changes while a worker is asked, and may be put back before the same is asked once more."""
    program, files, outcome = world.program(), world.files(), "races"
    staged, _ = world.look(program)
    world.panels.pop()
    SimulatedWorker.during = world.change
    try:
        shown(staged, method)
    except Unavailable:
        outcome = "races refused"
    SimulatedWorker.during = None
    if rng.random() < 0.5:
        world.restore(files)
    staged, truth = world.look(program)
    assert shown(staged, method) == truth["answer"], f"after a race: {staged.target}, {method}"
    return outcome
