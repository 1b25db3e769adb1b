"""Load a Python function named on the command line, and record what it returns."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from factcheck.errors import ConfigError

if TYPE_CHECKING:
    from factcheck.keywords import BehaviorCase


class Recorder:
    """Calls a function and records its responses, so that an interrupt does not lose them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._responses: dict[tuple[str, str], Any] = {}

    def __call__(self, case: BehaviorCase, variant: str) -> Any:
        response = self._function(case, variant)
        if inspect.isawaitable(response):
            return self._awaited(response, case.id, variant)
        self._responses[variant, case.id] = response
        return response

    @property
    def responses(self) -> dict[str, dict[str, Any]]:
        """The responses so far, by variant and case id."""
        found: dict[str, dict[str, Any]] = {}
        for (variant, case_id), response in self._responses.copy().items():
            found.setdefault(variant, {})[case_id] = response
        return found

    async def _awaited(self, response: Awaitable[Any], case_id: str, variant: str) -> Any:
        self._responses[variant, case_id] = result = await response
        return result


def load_function(spec: str) -> Callable[..., Any]:
    """Import a function; modules are searched in the working directory first.

    Args:
        spec: `MODULE:FUNCTION` or `PATH.py:FUNCTION`.

    Raises:
        ConfigError: There is no such function, or its module cannot be imported.
    """
    place, sign, name = spec.rpartition(":")
    if not (place and sign and name):
        raise ConfigError(f"--call {spec}: expected MODULE:FUNCTION, such as model:answer")
    try:
        found: Any = _module(place)
    except ConfigError:
        raise
    except ModuleNotFoundError as error:
        what = f"no module named {error.name!r}; check the name, or install it"
        raise ConfigError(f"--call {place}: {what}") from error
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"--call {place}: import failed ({what})") from error
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
    if not place.endswith(".py"):
        return importlib.import_module(place)
    path = Path(place)
    if not path.is_file():
        raise ConfigError(f"--call {path}: no such file; check the path")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"--call {path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
