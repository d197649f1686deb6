"""The installed compilers for cross-compilation, and what to install for the others. Imports none of them."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from platform import machine, processor

from jaxstage_ext.core.targets.target import Target, TargetError

TPU_PIP = 'pip install "jaxstage-ext[tpu]"'
CAPSTONE_PIP = 'pip install "jaxstage-ext[asm]"'
CUDA_PIP = 'pip install "jaxstage-ext[cuda]"'
_PLUGINS = ("xla_cuda13", "xla_cuda12")


@dataclass(frozen=True)
class InstalledCompiler:
    """A PJRT plugin's library."""

    library: str = ""
    version: str = ""
    lacks: str | None = None
    """Why it cannot compile, in one line that follows the target's name; None where it can."""
    note: str | None = None
    """A problem that does not keep it from compiling."""


def compiler_for(target: Target) -> InstalledCompiler:
    """The compiler of a target's platform. Raises TargetError, with the pip command, where it is missing."""
    compiler = find(target.platform)
    if compiler.lacks:
        raise TargetError(f"{target} {compiler.lacks}")
    return compiler


def find(platform: str) -> InstalledCompiler:
    """The installed compiler of "tpu" or "cuda"; that of "cpu" is jaxlib itself."""
    return {"tpu": _libtpu, "cuda": _cuda}.get(platform, InstalledCompiler)()


def identity(platform: str) -> tuple[str, ...]:
    """What identifies a platform's compiler: its version and files, and for a CPU program this machine's CPU."""
    files = [_file_of("jaxlib", "libjax_common.so")]
    if platform == "cpu":
        return (machine(), _cpu(), *_identities(files))
    compiler = find(platform)
    files += [compiler.library, ptxas(), _libdevice()] if platform == "cuda" else [compiler.library]
    return (compiler.version, *_identities(files))


def _identities(files: Iterable[str | None]) -> list[str]:
    return [of(file) for file in files if file]


@functools.cache
def _cpu() -> str:
    """The model and features of this machine's first CPU, for which XLA compiles."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        return processor()
    return "\n".join(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU ")))


def _libtpu() -> InstalledCompiler:
    chosen, package = os.environ.get("TPU_LIBRARY_PATH"), _file_of("libtpu", "libtpu.so")
    library = os.path.abspath(chosen) if chosen else package
    if not library or not Path(library).exists():
        return InstalledCompiler(lacks=f"needs libtpu, the TPU compiler: {TPU_PIP}")
    if library != package:
        return InstalledCompiler(library, f"from {library}")
    version = version_of("libtpu")
    wanted = _pinned("libtpu")
    note = None
    if wanted and version and not version.startswith(wanted):
        note = f'JAX requires libtpu {wanted}*: pip install "libtpu=={wanted}*"'
    return InstalledCompiler(library, version, note=note)


def _cuda() -> InstalledCompiler:
    for plugin in _PLUGINS:
        library = _file_of(f"jax_plugins.{plugin}", "xla_cuda_plugin.so")
        if library:
            break
    else:
        return InstalledCompiler(lacks=f"needs JAX's CUDA plugin: {CUDA_PIP}")
    version, jaxlib = version_of(f"jax-{plugin.removeprefix('xla_')}-pjrt"), version_of("jaxlib")
    if version != jaxlib:
        package = plugin.removeprefix("xla_")
        pip = f'pip install "jax-{package}-plugin=={jaxlib}" "jax-{package}-pjrt=={jaxlib}"'
        return InstalledCompiler(
            library, version, f"has a CUDA plugin {version} that does not match jaxlib {jaxlib}: {pip}"
        )
    missing = [name for name, path in (("ptxas", ptxas()), ("libdevice", _libdevice())) if not path]
    if missing:
        return InstalledCompiler(library, version, f"needs {' and '.join(missing)} of the CUDA toolkit: {CUDA_PIP}")
    return InstalledCompiler(library, version)


def ptxas() -> str | None:
    """The PTX assembler, where XLA looks for it."""
    return _in_toolkit("bin/ptxas") or shutil.which("ptxas")


def nvdisasm() -> str | None:
    """NVIDIA's disassembler."""
    return _in_toolkit("bin/nvdisasm") or shutil.which("nvdisasm")


def disassembler() -> str | None:
    """The installed disassembler of CPU code: "capstone", "objdump", or None."""
    return "capstone" if util.find_spec("capstone") else "objdump" if shutil.which("objdump") else None


def _libdevice() -> str | None:
    return _in_toolkit("nvvm/libdevice/libdevice.10.bc")


def _in_toolkit(file: str) -> str | None:
    """A file of the CUDA toolkit where XLA looks for it: in NVIDIA's wheels, CUDA_HOME or /usr/local/cuda."""
    folders = []
    for package in ("nvidia.cu13", "nvidia.cuda_nvcc"):
        folders += _folders(package)
    folders += [os.environ[name] for name in ("CUDA_HOME", "CUDA_DIR", "CUDA_ROOT") if os.environ.get(name)]
    candidates = [Path(folder) / file for folder in (*folders, "/usr/local/cuda")]
    return next((str(path) for path in candidates if path.exists()), None)


def _file_of(package: str, name: str) -> str | None:
    candidates = [Path(folder) / name for folder in _folders(package)]
    return next((str(path) for path in candidates if path.exists()), None)


def _folders(package: str) -> list[str]:
    """The folders of a package, found without importing a parent that is not a namespace."""
    parent, _, rest = package.partition(".")
    try:
        spec = util.find_spec(parent)
    except (ImportError, ValueError):
        return []
    places = list(spec.submodule_search_locations or ()) if spec else []
    return [path for place in places if os.path.isdir(path := os.path.join(place, *rest.split(".")) if rest else place)]


def version_of(distribution: str) -> str:
    """The installed version of a distribution; "" where it is not installed."""
    found = _distribution(distribution)
    return found.version if found else ""


@dataclass(frozen=True)
class _Distribution:
    """What the metadata of an installed distribution say."""

    version: str
    requirements: tuple[str, ...]
    folder: Path
    changed: int
    """When something was last installed into the folder, or removed from it; nanoseconds."""


_distributions: dict[tuple[str, ...], _Distribution] = {}
"""By their names and sys.path: reading metadata takes half a millisecond, and each compile asks for a dozen."""


def _distribution(name: str) -> _Distribution | None:
    """None where it is not installed. Read again when anything was installed beside it."""
    asked = (name, *sys.path)
    if (known := _distributions.get(asked)) and _changed(known.folder) == known.changed:
        return known
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    folder = Path(str(found.locate_file("")))
    read = _Distribution(found.version, (*(found.requires or ()),), folder, _changed(folder) or 0)
    _distributions[asked] = read
    return read


def _changed(folder: Path) -> int | None:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return None


def _pinned(package: str) -> str | None:
    """The version that the installed JAX pins in its tpu extra, such as "0.0.50."; None where it pins none."""
    jax = _distribution("jax")
    requirements = jax.requirements if jax else ()
    matches = (re.match(rf"{package}==([\d.]+)\*", requirement.replace(" ", "")) for requirement in requirements)
    return next((match[1] for match in matches if match), None)


_SMALL = 1 << 22
"""Bytes up to which all contents count; of a larger file, such as a compiler's library, samples do."""
_SAMPLES, _SAMPLE = 32, 4096


def of(path: str) -> str:
    """A text that differs where the contents differ; of a folder where its list of files does. "" without one."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            return _of_folder(Path(path))
        return _of_file(path, status) if stat.S_ISREG(status.st_mode) else "special file"
    except OSError:
        return ""


def _of_file(path: str, status: os.stat_result) -> str:
    with open(path, "rb") as file:
        if status.st_size <= _SMALL:
            return hashlib.sha256(file.read()).hexdigest()
        digest = hashlib.sha256()
        for number in range(_SAMPLES):
            place = (status.st_size - _SAMPLE) * number // (_SAMPLES - 1)
            digest.update(os.pread(file.fileno(), _SAMPLE, place))
    return f"{status.st_size} {status.st_mtime_ns} {digest.hexdigest()}"


def _of_folder(folder: Path) -> str:
    entries = sorted((entry.name, entry.stat()) for entry in os.scandir(folder))
    listed = "\n".join(f"{name} {status.st_size} {status.st_mtime_ns}" for name, status in entries)
    return hashlib.sha256(listed.encode("utf-8", "surrogateescape")).hexdigest()
