"""Paths as others may see them: from the notebook's folder or the package on, without a home folder or a user's name.

What is shown is also what a saved notebook, an offline page and JSON hold.
"""

from __future__ import annotations

import functools
import getpass
import os
import re
import site
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

INSTALLED = re.compile(r"^(?:.*[/\\])?((?:site|dist)-packages)[/\\]")
"""What comes before an installed package's own path."""
HIDDEN = "…"
"""Stands for the part of a path that is left out."""
_LONGEST = 4096
"""Characters of a path that a system takes."""
_IN_A_PATH = r"[^\s\"'`,:;|()<>\[\]{}\\]"
_ANY_HOME = r"/(?:home|Users)/[^/\s\"'`,:;|()<>\[\]{}\\]+"
_ANY_PATH = r"(?<![\w/.)\]}>~…*-])/(?:[\w.@+~-]+/)++"


def public_path(path: str) -> str:
    """A source file's path from the notebook's folder, site-packages, or its package on; else the file's name alone.

    What is not a path, such as "<string>", stays as it is.
    """
    if not path or path.startswith("<"):
        return path
    if (installed := INSTALLED.match(path)) is not None:
        return path[installed.start(1) :]
    return _from_folders(os.path.normpath(path), (*_library_folders(), *_notebook_folders()))


def public_text(text: str) -> str:
    """The text of a message or a setting, its absolute paths shortened."""
    return _shortened(text, _pattern(tuple(_folders()), True)) if "/" in text else text


def public_folders(text: str) -> str:
    """A text whose paths in the home, notebook's, library and temporary folders are shortened, and no others.

    For documents of the compiler, in which other words look like paths, and for what quotes the user's own words.
    """
    folders = tuple(_folders())
    known = (*folders, "/home/", "/Users/")
    return _shortened(text, _pattern(folders, False)) if any(folder in text for folder in known) else text


def masked_source(text: str) -> str:
    """Source with the home folders in it covered, character for character, so that columns stay where they are."""
    homes = "|".join(map(re.escape, _longest_first(_homes())))
    return re.sub(rf"(?<!\w)(?:{homes}|{_ANY_HOME})(?!\w)" if homes else _ANY_HOME, _covered, text)


def public_json(value: Any) -> Any:
    """Data of plain JSON types, the paths in its texts shortened; keys stay."""
    if isinstance(value, str):
        return public_text(value)
    if isinstance(value, dict):
        return {key: public_json(inner) for key, inner in value.items()}
    return [public_json(inner) for inner in value] if isinstance(value, list | tuple) else value


def _covered(match: re.Match[str]) -> str:
    return HIDDEN * len(match.group())


def _shortened(text: str, pattern: re.Pattern[str]) -> str:
    short = functools.cache(_short)
    return pattern.sub(lambda match: short(match.group()), text)


def _short(path: str) -> str:
    """A path in a text: one that leads out of the notebook's folder and every package has "…/" before its name."""
    if len(path) > _LONGEST:
        return HIDDEN
    if (installed := INSTALLED.match(path)) is not None:
        return path[installed.end() :]
    end = "/" if path.endswith("/") else ""
    path = os.path.normpath(path)
    if path in _homes() or re.fullmatch(_ANY_HOME, path):
        return HIDDEN + end
    if path in _notebook_folders():
        return "." + end
    inside = _below(path, _library_folders()) or _below(path, _notebook_folders())
    return (_without_user(inside) if inside else f"{HIDDEN}/{_without_user(os.path.basename(path))}") + end


@functools.lru_cache(maxsize=64)
def _pattern(folders: tuple[str, ...], any_path: bool) -> re.Pattern[str]:
    known = [*map(re.escape, _longest_first(folders)), _ANY_HOME]
    starts = [rf"(?<![\w/.-])(?:{'|'.join(known)})(?![\w-])", *([_ANY_PATH] if any_path else [])]
    return re.compile(f"(?:{'|'.join(starts)}){_IN_A_PATH}*")


def _folders() -> Iterator[str]:
    yield from _homes()
    yield from _notebook_folders()
    yield from _library_folders()
    yield from (os.path.dirname(folder) for folder in _site_folders())
    yield from _site_folders()
    yield tempfile.gettempdir()


def _longest_first(folders: Iterable[str]) -> list[str]:
    return sorted(set(folders), key=len, reverse=True)


def _homes() -> list[str]:
    return [folder for folder in _also_real(os.path.expanduser("~")) if len(folder) > 1]


def _notebook_folders() -> list[str]:
    """The kernel's folder, which is the notebook's; none where it holds the home folder."""
    try:
        folders = _also_real(os.getcwd())
    except OSError:
        return []
    return [f for f in folders if len(f) > 1 and not any(home.startswith(f + os.sep) for home in _homes())]


@functools.lru_cache(maxsize=64)
def _also_real(folder: str) -> tuple[str, ...]:
    """A folder, and what it is where links lead; kept, since each frame of each operation asks."""
    return tuple(dict.fromkeys([folder, os.path.realpath(folder)]))


@functools.cache
def _library_folders() -> tuple[str, ...]:
    named = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__))
    return tuple({os.path.normpath(folder) for folder in named if folder})


@functools.cache
def _site_folders() -> tuple[str, ...]:
    return tuple({os.path.normpath(folder) for folder in (*site.getsitepackages(), site.getusersitepackages())})


@functools.lru_cache(maxsize=4096)
def _from_folders(path: str, folders: tuple[str, ...]) -> str:
    return _without_user(os.path.normpath(_below(path, folders) or _in_package(path)))


def _below(path: str, folders: Iterable[str]) -> str:
    """The path from the first of these folders on that it is in; "" where it is in none."""
    for here in dict.fromkeys([path, _real(path)]):
        for folder in folders:
            if here.startswith(folder + os.sep):
                return here[len(folder) + 1 :]
    return ""


def _real(path: str) -> str:
    """The path without links; the path itself where it holds what no path of a file can."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path


def _in_package(path: str) -> str:
    """The path from its outermost package on; that of a file in no package is its name."""
    top = os.path.dirname(path)
    while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    return os.path.relpath(path, top) if os.path.isabs(path) else os.path.basename(path)


def _without_user(path: str) -> str:
    """The path after the last folder that has the user's name."""
    parts, name = path.split(os.sep), _user_name()
    after = max((i + 1 for i, part in enumerate(parts) if part == name), default=0)
    return os.sep.join(parts[after:]) or HIDDEN


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""
