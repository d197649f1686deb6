"""The methods that a request to the worker may name. They use jaxlib alone, not jax."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from jaxlib import _jax, xla_client  # type: ignore[attr-defined, unused-ignore]

from jaxstage_ext.worker.inside import dump_room, executable_artefacts, short_names, whole_files
from jaxstage_ext.worker.inside.clients import Clients, parsed
from jaxstage_ext.worker.inside.log import LogTail

_SMALLEST = b"""
func.func public @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  return %0 : tensor<i32>
}"""
_DEVICE = ("id", "process_index", "device_kind", "platform", "coords", "core_on_chip")

_WITHOUT_GPU = {"cuda": (("xla_gpu_enable_cub_radix_sort", False),)}
"""CUB's sort, which XLA takes for large arrays, does not compile without a GPU: "invalid device ordinal"."""


class Dumped(NamedTuple):
    """A compile and what it dumped. `executable`, of a module of that `name`, is None where it failed with `error`."""

    folder: Path
    executable: Any
    error: Exception | None
    name: short_names.ShortName


class Compiler:
    """Answers requests. `program` is always the target's platform, library, kind and topology, and what to compile.

    Once `leaving` is set the process ends after its answer.
    """

    def __init__(self, log: Path, dump_prefix: str) -> None:
        self._log, self._dump_prefix = log, dump_prefix
        self._clients = Clients()
        self.leaving = False
        self._partitions: Any = None

    def ping(self) -> dict[str, Any]:
        """The process's id, and whether jax was imported in it."""
        return {"pid": os.getpid(), "jax": "jax" in sys.modules}

    def try_flags(self) -> None:
        """Compile the smallest program, which this process does not survive where XLA refuses its XLA_FLAGS."""
        client = self._clients.cpu(1)
        devices = _jax.DeviceList(tuple(client.local_devices()))
        client.compile_and_load(_SMALLEST, executable_devices=devices, compile_options=xla_client.CompileOptions())

    def measure_ceilings(self, seconds: float, memory: int, cache: int) -> dict[str, Any]:
        """How fast this machine's CPU computes and moves data; see `QuickCeilings.measure`."""
        from jaxstage_ext.worker.inside.timed_ceilings import QuickCeilings

        return QuickCeilings(self._clients.cpu(1), seconds).measure(memory, cache)

    def topologies(self, platform: str, library: str, names: list[str]) -> dict[str, int | str]:
        """How many devices each topology has; for one that the plugin rejects, its error."""
        counts: dict[str, int | str] = {}
        for name in names:
            try:
                counts[name] = len(self._clients.absent_devices(platform, library, "", name))
            except Exception as error:
                counts[name] = str(error)
        return counts

    def devices(self, platform: str, library: str, kind: str, topology: str) -> list[dict[str, Any]]:
        """What JAX lays a mesh out by, of each device of a topology, by id."""
        devices = self._clients.absent_devices(platform, library, kind, topology)
        return [{name: getattr(device, name, None) for name in _DEVICE} for device in devices]

    def device_description(self, platform: str, library: str, kind: str, topology: str) -> str:
        """The description of a GPU."""
        return self._clients.gpu_spec(library, kind)

    def compile(self, large_constants: bool, **program: Any) -> dict[str, Any]:
        """Compile StableHLO bytecode: text and proto of the optimised module, analyses, seconds of the compile.

        For a TPU and a GPU, whose compiles may take minutes, also its buffer assignment, as `memory` gives it; for a
        GPU the schedule that XLA predicted, as `schedule_dump.read` gives it.
        """
        if program.get("autotune"):
            dump_room.check(Path.cwd())
        executable, seconds, assigned, schedule = self._compiled_with_assignment(program)
        made = executable_artefacts.artefacts(
            executable, program["platform"], large_constants, lambda: self._clients.cpu(1)
        )
        if program.get("autotune"):
            dump_room.check(Path.cwd())  # otherwise its log may be cut
            made["autotuned"] = executable_artefacts.autotuned(self._log.read_text(errors="replace"))
        return made | {"seconds": seconds, "assigned": assigned, "schedule": schedule}

    def module_text(self, proto: bytes) -> str:
        """The text of a serialised HloModuleProto, which this process may not survive where it is damaged."""
        return executable_artefacts.text_of_proto(proto)

    def without_data(self, module: bytes, options: bytes, **program: Any) -> dict[str, Any]:
        """A program without what is the user's: see `without_data.text` and `.options`."""
        from jaxstage_ext.worker.inside import without_data

        return {**without_data.text(module), "options": without_data.options(options)}

    def open_module(self, form: str, data: bytes, partitions: int = 0, entry: str = "") -> dict[str, Any]:
        """A module out of a file; see `foreign_modules.opened`."""
        from jaxstage_ext.worker.inside import foreign_modules

        return foreign_modules.opened(form, data, partitions, entry)

    def open_exported(self, data: bytes) -> None:
        """Reads what `jax.export` serialised, and its module; see `exported_programs.check`."""
        from jaxstage_ext.worker.inside import exported_programs

        exported_programs.check(data)

    def open_partitionable(self, module: bytes, with_constraints: bool) -> dict[str, Any]:
        """Keep a module for `partition`; see `PartitionSession.open`."""
        opened: dict[str, Any] = self._partition_session().open(module, with_constraints)
        return opened

    def partition(
        self, key: str, layouts: list[dict[str, Any]], opened: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """What layouts make of a module that is kept; see `PartitionSession.partition`.

        `opened` are the arguments of `open_partitionable`, where this process may not have it.
        """
        if opened is not None:
            self._partition_session().open(**opened)
        answers: list[dict[str, Any]] = self._partition_session().partition(key, layouts)
        return answers

    def _partition_session(self) -> Any:
        from jaxstage_ext.worker.inside.partitioning.partition_session import PartitionSession

        self._partitions = self._partitions or PartitionSession()
        return self._partitions

    def dumped_passes(self, folder: str, keys: list[str]) -> dict[str, Any]:
        """The passes in a dump of elsewhere; see `dump_files.passes`."""
        from jaxstage_ext.worker.inside import dump_files

        return dump_files.read_passes(folder, keys)

    def dumped_code(self, folder: str, keys: list[str], largest: int) -> dict[str, Any]:
        """The machine code in a dump of elsewhere; see `dump_files.code`."""
        from jaxstage_ext.worker.inside import dump_files

        return dump_files.read_code(folder, keys, largest)

    def kernels(self, wanted: str, large_constants: bool, tries: int, largest: int, **program: Any) -> dict[str, Any]:
        """The machine code of each kernel, as `kernel_dump.read` packs it, and whether it is that of the module wanted.

        XLA's GPU compiler does not always give the same module for the same program, so it is tried `tries` times.
        `wanted` is the digest of the module's text; dumped files of more than `largest` bytes are left out.
        """
        from jaxstage_ext.worker.inside import kernel_dump

        for left in reversed(range(tries)):
            with self._compiled_with_dump(program, kernel_dump.FLAGS) as dumped:
                if dumped.error is not None:
                    raise dumped.error
                whole_files.check_code(dumped.folder)
                same = self._digest(dumped, large_constants) == wanted
                if same or not left:
                    return {**kernel_dump.read(dumped.folder, largest), "same": same}
        raise ValueError(f"tries must be at least 1, not {tries}")

    def _digest(self, dumped: Dumped, large_constants: bool) -> str:
        """Of a module's text: as `core.recompile.machine_code` computes it, which the text need not travel for."""
        module = executable_artefacts.module_of(dumped.executable)
        text = "" if module is None else dumped.name.restored(executable_artefacts.text(module, large_constants))
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def bundles(self, folder: str, **program: Any) -> list[tuple[str, bytes]]:
        """The VLIW bundles of each part of a TPU program, where this process's libtpu dumps them into `folder`."""
        from jaxstage_ext.worker.inside import bundles

        with bundles.kept(Path.cwd() / folder, LogTail(self._log)) as final:
            self._compiled(**program)
        return final

    def machine(self, tool: str, platform: str, library: str, kind: str, topology: str, **arguments: Any) -> Any:
        """What a tool makes of machine code; the target does not matter to it."""
        from jaxstage_ext.worker.inside import disassemble, mosaic

        tools = {
            "disassemble": disassemble.disassemble,
            "assemble": disassemble.assemble,
            "sass": disassemble.sass,
            "mosaic": mosaic.text,
            "mosaic_gpu": mosaic.gpu_text,
        }
        return tools[tool](**arguments)  # type: ignore[operator]

    def passes(self, **program: Any) -> dict[str, Any]:
        """The pipeline's passes; see `pass_dump.collect`. A GPU's kernels, which take far longer, are not awaited."""
        from jaxstage_ext.worker.inside import pass_dump

        early = program["platform"] == "cuda"
        with self._left_where_cut():
            program["module"], name = short_names.shortened(program["module"])
            result = pass_dump.collect(self._compile_with(program), self._new_dump_folder(), self._log, early, name)
        self.leaving = result["running"]
        return result

    def propagation(self, **program: Any) -> dict[str, Any]:
        """The module as the partitioner gets it; see `propagation_dump.collect`."""
        from jaxstage_ext.worker.inside import propagation_dump

        with self._left_where_cut():
            program["module"], _ = short_names.shortened(program["module"])
            result = propagation_dump.collect(self._compile_with(program), self._new_dump_folder(), self._log)
        self.leaving = result["running"]
        return result

    def memory(self, **program: Any) -> dict[str, Any]:
        """The buffer assignment of a program, XLA's memory statistics, and the error of one that did not fit."""
        from jaxstage_ext.worker.inside import dump_files

        with self._compiled_with_dump(program, dump_files.FLAGS) as dumped:
            module = executable_artefacts.module_of(dumped.executable) if dumped.executable else None
            try:
                proto = dump_files.read_buffers(dumped.folder, getattr(module, "name", None), dumped.error is None)
            except dump_files.NoAssignment as error:
                raise (dumped.error or error) from None
            stats, _ = executable_artefacts.analysis(lambda: executable_artefacts.memory_stats(dumped.executable))
            return {"proto": proto, "stats": stats or {}, "error": dumped.error and str(dumped.error)}

    def schedule(self, wanted: str, large_constants: bool, **program: Any) -> dict[str, Any]:
        """The schedule that XLA predicts, as `schedule_dump.read` gives it, and whether its module is the one wanted.

        `wanted` is the digest of the module's text.
        """
        from jaxstage_ext.worker.inside import schedule_dump

        tail = LogTail(self._log)
        with self._compiled_with_dump(program, schedule_dump.FLAGS) as dumped:
            if dumped.error is not None:
                raise dumped.error
            made = schedule_dump.read(dumped.folder, dumped.name.short or None, tail.text())
            return {**made, "same": self._digest(dumped, large_constants) == wanted}

    def _compiled_with_assignment(
        self, program: Mapping[str, Any]
    ) -> tuple[Any, float, bytes | None, dict[str, Any] | None]:
        """(executable, seconds of the compile, its buffer assignment, its schedule); None where that is not dumped.

        It is not where dumps are asked for by the user, or have no room.
        """
        from jaxstage_ext.worker.inside import dump_files, schedule_dump

        if program["platform"] == "cpu" or _dumps_already(program):
            return *self._compiled(**program), None, None
        folder = tail = None
        schedules = schedule_dump.FLAGS if program["platform"] == "cuda" else {}
        try:
            with contextlib.suppress(OSError):
                folder, tail = self._new_dump_folder(), LogTail(self._log)
                dump_room.check(folder)
            flags = {"xla_dump_to": str(folder), **dump_files.FLAGS, **schedules} if folder is not None else {}
            executable, seconds = self._compiled(**program, flags=flags)
            name = getattr(executable_artefacts.module_of(executable), "name", None)
            assigned = schedule = None
            with contextlib.suppress(OSError, ValueError):
                if folder is not None and tail is not None:
                    dump_room.check(folder, tail)
                    schedule = schedule_dump.read(folder, name, tail.text()) if schedules else None
                    assigned = dump_files.read_buffers(folder, name, True)
            return executable, seconds, assigned, schedule
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _compiled(
        self,
        platform: str,
        library: str,
        kind: str,
        topology: str,
        room: int,
        order: list[int],
        module: bytes,
        options: bytes,
        flags: Mapping[str, Any] = MappingProxyType({}),
        autotune: tuple[str, bytes] | None = None,
    ) -> tuple[Any, float]:
        """(executable, seconds of the compile); `flags` are XLA's, above those in `options`.

        `autotune` is the name and the bytes of a file of autotune results.
        """
        if autotune:
            file = Path(autotune[0]).absolute()
            with dump_room.written_whole():
                file.write_bytes(autotune[1])
            flags = {**flags, "xla_gpu_load_autotune_results_from": str(file)}
        compile_options: Any = xla_client.CompileOptions.ParseFromString(options)
        given = compile_options.env_option_overrides
        compile_options.env_option_overrides = [*_WITHOUT_GPU.get(platform, ()), *given, *flags.items()]
        source: Any
        if platform == "cpu":
            client = self._clients.cpu(room)
            devices, source, compile_ = client.local_devices(), module, client.compile_and_load
        else:
            devices, source = self._clients.absent_devices(platform, library, kind, topology), parsed(module)
            compile_ = devices[0].client.compile
        chosen = _jax.DeviceList(tuple(devices[i] for i in order))
        started = time.perf_counter()
        executable = compile_(source, executable_devices=chosen, compile_options=compile_options)
        return executable, time.perf_counter() - started

    def _compile_with(self, program: Mapping[str, Any]) -> Any:
        """A function that compiles the program with the XLA flags it is given."""
        return lambda flags: self._compiled(**program, flags=flags)

    @contextlib.contextmanager
    def _compiled_with_dump(self, program: Mapping[str, Any], flags: Mapping[str, Any]) -> Iterator[Dumped]:
        """Compile with these flags and everything that XLA dumps in a folder, which is removed when the block ends.

        It also holds what XLA wrote before it failed; the error is for the caller to raise. Raises DumpCut where there
        was no room for all of it.
        """
        folder, executable, error, tail = self._new_dump_folder(), None, None, LogTail(self._log)
        module, name = short_names.shortened(program["module"])
        try:
            dump_room.check(folder)
            try:
                executable, _ = self._compiled(
                    **{**program, "module": module}, flags={"xla_dump_to": str(folder), **flags}
                )
            except Exception as raised:
                error = raised
            dump_room.check(folder, tail)
            yield Dumped(folder, executable, error, name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _new_dump_folder(self) -> Path:
        with dump_room.written_whole():
            return Path(tempfile.mkdtemp(prefix=self._dump_prefix, dir=os.getcwd()))

    @contextlib.contextmanager
    def _left_where_cut(self) -> Iterator[None]:
        """Have the process end after its answer where XLA may still be writing a dump that has no room."""
        try:
            yield
        except dump_room.DumpCut:
            self.leaving = True
            raise


def _dumps_already(program: Mapping[str, Any]) -> bool:
    """Whether the options, or XLA_FLAGS, say what to dump, or autotuning reads the log."""
    return (
        bool(program.get("autotune")) or b"xla_dump_" in program["options"] or "xla_dump_" in os.getenv("XLA_FLAGS", "")
    )
