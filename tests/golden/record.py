"""Golden files: what they hold, how they are written and how they are read.

`python tests/golden/record.py` writes those of the installed JAX. For each
program: `jaxpr.golden`, `stablehlo.golden` and `hlo.golden` (the document as
`listing` shows it), and what the last two were read from: `stablehlo.mlir`
(text with locations) and `hlo.pb` (HloModuleProto).
"""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
DEVICES = 4
SEPARATOR = " │ "


def load_programs() -> ModuleType:
    """The programs, compiled under a name that is the same on every machine."""
    source = (HERE / "programs.py").read_text()
    linecache.cache["programs.py"] = (len(source), None, source.splitlines(True), "programs.py")
    module = ModuleType("programs")
    exec(compile(source, "programs.py", "exec"), module.__dict__)
    return module


def listing(document) -> str:
    """The document, each line after its source: `=` direct, `~` inferred, `'` gradient."""
    lines = []
    for number, text in enumerate(document.lines, 1):
        span = document.source_of(number)
        where = ""
        if span:
            mark = ("~" if span.inferred else "=") + ("'" if span.gradient else "")
            where = f"{mark} {span.line}:{span.column}-{span.end_line}:{span.end_column} {span.function}"
        lines.append(f"{where:<52}{SEPARATOR}{text}".rstrip(" "))
    coverage = document.coverage
    lines.append(f"{coverage.direct} direct, {coverage.inferred} inferred, {coverage.total} in all")
    return normal("\n".join(lines)) + "\n"


def normal(text: str) -> str:
    """The text without memory addresses."""
    return re.sub(r"0x[0-9a-f]{8,16}\b", "0x…", text)


def text_of(golden: str) -> str:
    """The document's text out of its listing."""
    return "\n".join((line + " ").split(SEPARATOR, 1)[1][:-1] for line in golden.splitlines()[:-1])


def main() -> None:
    import jax

    jax.config.update("jax_num_cpu_devices", DEVICES)
    jax.config.update("jax_hlo_source_file_canonicalization_regex", re.escape(f"{HERE.parent.parent}/"))
    from jaxstage_ext import inspect
    from jaxstage_ext.core.jax_private import lowered_modules, xla_executables
    from jaxstage_ext.core.stage import stages

    for name, (function, arguments) in load_programs().PROGRAMS.items():
        folder = HERE / f"jax-{jax.__version__}" / name
        folder.mkdir(parents=True, exist_ok=True)
        inspection = inspect(function, *arguments)
        for kind in ("jaxpr", "stablehlo", "hlo"):
            (folder / f"{kind}.golden").write_text(listing(inspection.documents[kind]))
        (folder / "stablehlo.mlir").write_text(lowered_modules.stablehlo_texts(stages.unwrap(inspection.lowered))[1])
        (folder / "hlo.pb").write_bytes(xla_executables.hlo_proto(inspection.program.xla_module))
        print(name, *(inspection.documents[kind].coverage for kind in ("jaxpr", "stablehlo", "hlo")))


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent.parent))
    main()
