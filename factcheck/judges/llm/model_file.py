"""Models with settings from a YAML file: `judges.yaml#careful` wherever a judge is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from factcheck.documents.reading import read_document
from factcheck.errors import ConfigError, FactcheckError
from factcheck.settings import Model, Settings

_SPEC = re.compile(r"(?P<path>.+\.ya?ml)(?:#(?P<name>.+))?", re.IGNORECASE)
_MODEL = "model"
_KEY = "api_key_env"
_KNOWN = {_MODEL, _KEY, *(f.name for f in fields(Model))} - {"name", "api_key"}


def read_model(spec: str, settings: Settings) -> Model:
    """The model that `FILE.yaml#NAME` stands for; without `#NAME`, the only one of the file.

    The file maps names to settings: `model` (`PROVIDER/MODEL`), those of `factcheck.Model`, and
    `api_key_env`, the environment variable of the key. A key itself does not belong there.

    Raises:
        ConfigError: There is no such name or setting, or a setting cannot be what it is.
        InputError: The file cannot be read.
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ConfigError(f"{spec!r} does not name a model file; give FILE.yaml#NAME")
    document = read_document(found["path"], expected="models come from")
    models = document.value
    if not isinstance(models, dict) or not models:
        raise ConfigError(f"{document.name}: expected names and the settings of each")
    name = found["name"] or (next(iter(models)) if len(models) == 1 else None)
    if name not in models:
        which = f"has no {name!r}" if name else "has several models"
        raise ConfigError(
            f"{document.name} {which}; name one: "
            + ", ".join(f"{found['path']}#{known}" for known in models)
        )
    try:
        return _model(models[name], settings)
    except FactcheckError as error:
        raise ConfigError(f"{document.place((str(name),))}: {error}") from error


def _model(given: Any, settings: Settings) -> Model:
    if not isinstance(given, Mapping) or not isinstance(given.get(_MODEL), str):
        raise ConfigError("a model needs its name: `model: PROVIDER/MODEL`")
    if "api_key" in given:
        raise ConfigError(f"a key does not belong into a file; name its variable as {_KEY}")
    if unknown := sorted(map(str, given.keys() - _KNOWN)):
        raise ConfigError(f"unknown: {', '.join(unknown)}; known are {', '.join(sorted(_KNOWN))}")
    options = {name: value for name, value in given.items() if name not in {_MODEL, _KEY}}
    variable = given.get(_KEY)
    if variable is None:
        return Model(given[_MODEL], **options)
    key = settings.variable(str(variable))
    if key is None:
        raise ConfigError(f"{_KEY} names {variable}, which is not set")
    return Model(given[_MODEL], **options, api_key=key)
