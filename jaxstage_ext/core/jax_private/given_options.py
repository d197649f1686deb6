"""The compile options that XLA was given, recorded at the compile that made an executable."""

from __future__ import annotations

import contextlib
import copy
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jax._src import config as _config

from jaxstage_ext.core.jax_private.jax_options import PROFILED, ConfiguredOptions, recorded_options
from jaxstage_ext.core.jax_private.replaced_function import ReplacedFunction

_heard = threading.local()
_Given = list[tuple[dict[str, Any], ConfiguredOptions]]
_of_module: weakref.WeakKeyDictionary[Any, _Given] = weakref.WeakKeyDictionary()
"""By the module that was compiled: JAX keeps an executable for each module and set of options by name."""


@contextlib.contextmanager
def hear_options() -> Iterator[list[ConfiguredOptions]]:
    """The options of each of this thread's compiles in the block, those of persistent-cache hits too."""
    outer, given = getattr(_heard, "given", None), list[ConfiguredOptions]()
    with _resolving.replaced():
        _heard.given = given
        try:
            yield given
        finally:
            _heard.given = outer


def _heard_through(resolve: Callable[..., Any]) -> Any:
    def heard(*args: Any, **kwargs: Any) -> Any:
        key, options = resolve(*args, **kwargs)
        given: list[ConfiguredOptions] | None = getattr(_heard, "given", None)
        if given is not None:
            given.append(recorded_options(options))
        return key, options

    return heard


_resolving = ReplacedFunction("_resolve_compilation_strategy", _heard_through)


def remember(module: Any, by_name: Mapping[str, Any], given: ConfiguredOptions) -> None:
    """Executables that JAX has made of a module with the options `by_name` were given these."""
    others = [one for one in _of_module.get(module, ()) if one[0] != by_name]
    _of_module[module] = [*others, (dict(by_name), given)]


def remember_heard(module: Any, by_name: Mapping[str, Any], options: Any) -> ConfiguredOptions:
    """The same of JAX's CompileOptions, as they were before JAX looked at the configuration of profiles; gives them."""
    if is_profiled() and not options.executable_build_options.fdo_profile:
        options = copy.deepcopy(options)
        options.env_option_overrides += [PROFILED]
    given = recorded_options(options)
    remember(module, by_name, given)
    return given


def is_profiled() -> bool:
    """Whether JAX compiles for runs that it profiles."""
    runs = _config.enable_pgle.value and _config.pgle_profiling_runs.value > 0
    return bool(runs or _config.compilation_cache_expect_pgle.value)


def remembered(module: Any, by_name: Mapping[str, Any]) -> ConfiguredOptions | None:
    """What executables of a module were given; None where nobody recorded it."""
    return next((given for names, given in _of_module.get(module, ()) if names == by_name), None)
