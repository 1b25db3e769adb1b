"""A Python function that is named on the command line, and what it has answered so far."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from factcheck.errors import ConfigError
from factcheck.keywords import BehaviorCase


class Remembering:
    """Asks a function, and keeps what it answers: an interrupt must not cost all of it.

    Args:
        function: Is given a case and the name of a variant; may be asynchronous.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._answers: dict[tuple[str, str], Any] = {}

    def __call__(self, case: BehaviorCase, variant: str) -> Any:
        """What the function gives."""
        given = self._function(case, variant)
        if inspect.isawaitable(given):
            return self._awaited(given, case.id, variant)
        return self._kept(given, case.id, variant)

    @property
    def so_far(self) -> dict[str, dict[str, Any]]:
        """The answers, by variant and case id."""
        found: dict[str, dict[str, Any]] = {}
        for (variant, case_id), given in self._answers.copy().items():
            found.setdefault(variant, {})[case_id] = given
        return found

    async def _awaited(self, given: Awaitable[Any], case_id: str, variant: str) -> Any:
        return self._kept(await given, case_id, variant)

    def _kept(self, given: Any, case_id: str, variant: str) -> Any:
        self._answers[variant, case_id] = given
        return given


def function_of(spec: str) -> Callable[..., Any]:
    """The function that `MODULE:FUNCTION` or `PATH.py:FUNCTION` names.

    Modules are looked for in the working directory first, as Python itself does.

    Raises:
        ConfigError: There is none, or it cannot be loaded.
    """
    place, sign, name = spec.rpartition(":")
    if not (place and sign and name):
        raise ConfigError(f"--call {spec}: write it as MODULE:FUNCTION, such as model:ask")
    found: Any = _module(place)
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(f"--call {spec}: {place} has no function {name!r}")
    function: Callable[..., Any] = found
    return function


def _module(place: str) -> ModuleType:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except ConfigError:
        raise
    except ModuleNotFoundError as error:
        what = f"there is no module {error.name!r}; check the name, or install it"
        raise ConfigError(f"--call {place}: {what}") from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"--call {place}: it cannot be loaded ({what})") from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise ConfigError(f"--call {path}: there is no such file; check the path")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"--call {path}: it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
