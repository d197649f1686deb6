"""Tab completion of the magics' options, and of XLA flags after `--xla`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, context_matcher

from jaxstage_ext.notebook.lines import line_help

_XLA = re.compile(r".*\s--xla(?:\s++|=\s*+)(?P<name>[\w-]*+)(?P<value>=\w*+)?$", re.DOTALL)

_TARGET = re.compile(r".*\s(?:-t\s*+|--target(?:\s++|=\s*+))(?P<typed>[\w:-]*+)$", re.DOTALL)
_NAME = re.compile(r"(?:.*[^\w.])?(?P<typed>[^\W\d][\w.]*+)?$", re.DOTALL)

_TIMELINE = re.compile(r"(?:.*=)?\s*%timeline\s(?:.*\s)?(?P<typed>\S*)$", re.DOTALL)
_BROWSER = re.compile(r"\s*%xla_flags\s++(?:.*\s)?(?P<name>\S*)$")


_OPTIONS_ALONE = re.compile(r"(?:.*=)?\s*%(?P<magic>compile_cache|findings)\s(?:.*\s)?(?P<typed>\S*)$", re.DOTALL)
_OPTIONS = {"compile_cache": line_help.COMPILE_CACHE_OPTIONS, "findings": line_help.FINDINGS_OPTIONS}

_PROCESSES = re.compile(r"(?:.*=)?\s*%processes\s++(?P<words>(?:\S++\s++)*+)(?P<typed>\S*)$")
_PROFILES = (".pb", ".json", ".gz")


def completer(options: Mapping[str, Sequence[str]], python: Callable[[str], Sequence[str]]) -> Any:
    """An IPython matcher for the line of a magic: its options, targets, XLA flags, and Python names in its calls.

    `python` completes a dotted name.
    """
    magic = re.compile(rf"(?:.*=)?\s*%%?({'|'.join(options)})\s")

    @context_matcher(identifier="jaxstage")  # type: ignore[untyped-decorator]
    def complete(context: CompletionContext) -> Any:
        text = context.text_until_cursor
        if listed := _BROWSER.match(text):
            from jaxstage_ext.notebook.lines import compile_options

            return _completions(compile_options.flag_names(listed["name"]), listed["name"])
        asked = _OPTIONS_ALONE.match(text)
        if asked and (asked["magic"] == "compile_cache" or asked["typed"].startswith("-")):
            options_left = [option for option in _OPTIONS[asked["magic"]] if option not in text.split()[1:]]
            return _completions([o for o in options_left if o.startswith(asked["typed"])], asked["typed"])
        if job := _PROCESSES.match(text):
            return _of_job(job["words"].split(), job["typed"], python)
        if opened := _TIMELINE.match(text):
            return _completions(_files(opened["typed"]), opened["typed"])
        if asked:
            return _names(text, python)
        if (line := magic.match(text)) is None:
            return {"completions": []}
        if "--xla" in options[line[1]] and (flag := _XLA.match(text)):
            return _flag(flag["name"], flag["value"])
        if "--target" in options[line[1]] and (target := _TARGET.match(text)):
            from jaxstage_ext.notebook.lines import target_completion

            return _completions(target_completion.names(target["typed"]), target["typed"])
        if not context.token.startswith("-"):
            return _names(text, python)
        used = set(text.split()[1:-1]) - {"--xla"}
        matching = [o for o in options[line[1]] if o.startswith(context.token) and o not in used]
        return _completions(matching, context.token)

    return complete


def _of_job(words: Sequence[str], typed: str, python: Callable[[str], Sequence[str]]) -> Any:
    """What the line of `%processes` may go on with: a command, its options or word, the name of a client."""
    if words == ["use"]:
        return _completions(python(typed) if typed else (), typed)
    known: Sequence[str] = line_help.PROCESSES_COMMANDS if not words else ()
    if words[:1] == ["guard"]:
        known = ("on", "off") if len(words) == 1 else ()
    elif words and words[0] in line_help.PROCESSES_WITH_OPTIONS:
        known = [option for option in line_help.PROCESSES_OPTIONS if option not in words]
    return _completions([word for word in known if word.startswith(typed)], typed)


def _names(text: str, python: Callable[[str], Sequence[str]]) -> Any:
    """Python names on a magic's line, which IPython itself completes between brackets only."""
    name = _NAME.match(text)
    typed = (name and name["typed"]) or ""
    if not typed or "(" in text:
        return {"completions": []}
    return _completions([n for n in python(typed) if not n.partition(typed)[2].startswith("__")], typed)


def _files(typed: str) -> list[str]:
    """The folders and profiles that a path may go on with, and `--with`."""
    if typed.startswith("-"):
        return [option for option in line_help.TIMELINE_OPTIONS if option.startswith(typed)]
    folder, _, start = typed.rpartition("/")
    try:
        entries = sorted(os.scandir(os.path.expanduser(f"{folder}/" if folder or typed[:1] == "/" else ".")), key=_name)
    except OSError:
        return []
    shown = [e for e in entries if e.name.startswith(start) and (start or not e.name.startswith("."))]
    base = typed[: len(typed) - len(start)]
    return [f"{base}{e.name}{'/' if e.is_dir() else ''}" for e in shown if e.is_dir() or e.name.endswith(_PROFILES)]


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _flag(typed: str, value: str | None) -> Any:
    from jaxstage_ext.notebook.lines import compile_options

    name = typed.lstrip("-")
    if value is not None:
        return _completions(compile_options.flag_values(name, value[1:]), value[1:])
    dashes = typed[: len(typed) - len(name)]
    return _completions([f"{dashes}{flag}=" for flag in compile_options.flag_names(name)], typed)


def _completions(texts: Sequence[str], fragment: str) -> Any:
    return {
        "completions": [SimpleCompletion(text=text, type="param") for text in texts],
        "matched_fragment": fragment,
        "suppress": bool(texts),
    }
