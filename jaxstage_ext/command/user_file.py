"""The user's Python file, imported as a module: nothing of it is run but that, and nothing is left behind."""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from jaxstage_ext.command import command_wording as wording
from jaxstage_ext.command.command_error import CommandError


def imported_file(path: str, arguments: Sequence[str] = ()) -> ModuleType:
    """The module of a file, whose `__name__` is the file's stem; with `arguments` as its `sys.argv[1:]`.

    Raises CommandError where there is no such file, or importing it fails, asks for input, or ends the process.
    """
    file = Path(path).expanduser()
    if not file.is_file():
        raise CommandError(wording.no_file(path))
    if file.suffix != ".py":
        raise CommandError(wording.not_python(path))
    sys.dont_write_bytecode = True  # so that no __pycache__ is left beside the file
    sys.argv, sys.stdin = [str(file), *arguments], io.StringIO()
    sys.path.insert(0, str(file.resolve().parent))
    return _run(file)


def _run(file: Path) -> ModuleType:
    name = file.stem if file.stem not in sys.modules else f"{file.stem} of the command line"
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    if spec is None or spec.loader is None:
        raise CommandError(wording.not_python(str(file)))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except EOFError:
        raise CommandError(wording.import_failed(file.name, wording.ASKED_FOR_INPUT)) from None
    except SystemExit as ended:
        raise CommandError(wording.ended_itself(file.name, ended.code)) from None
    except Exception as error:
        raise CommandError(wording.import_failed(file.name, _why(error, file))) from None
    return module


def _why(error: BaseException, file: Path) -> str:
    """`train.py:3: ModuleNotFoundError: …`: the innermost line of the file."""
    line, at = 0, error.__traceback__
    while at is not None:
        line = at.tb_lineno if at.tb_frame.f_code.co_filename == str(file.resolve()) else line
        at = at.tb_next
    line = error.lineno or line if isinstance(error, SyntaxError) else line
    return f"{f'line {line}: ' if line else ''}{type(error).__name__}: {error}"
