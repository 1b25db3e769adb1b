"""Models with settings: from a YAML file (`judges.yaml#careful`), and from `NAME=VALUE` options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from factcheck.documents.reading import read_document
from factcheck.documents.yaml_documents import parse_yaml
from factcheck.errors import ConfigError, FactcheckError
from factcheck.settings import Model, Settings

_SPEC = re.compile(r"(?P<path>.+\.ya?ml)(?:#(?P<name>.+))?", re.IGNORECASE)
_MODEL = "model"
_KEY = "api_key_env"
_KNOWN = {_MODEL, _KEY, *(f.name for f in fields(Model))} - {"name", "api_key"}


def read_model(spec: str, settings: Settings, options: Sequence[str] = ()) -> Model:
    """The model that `PROVIDER/MODEL` or `FILE.yaml#NAME` stands for.

    A file maps names to settings: `model` (`PROVIDER/MODEL`), those of `factcheck.Model`, and
    `api_key_env`, the environment variable of the key. A key itself does not belong there. The name
    can be left out where there is only one. Options are `NAME=VALUE` with values as in YAML; they
    take precedence over the file.

    Raises:
        ConfigError: There is no such name or setting, or a setting cannot be what it is.
        InputError: The file cannot be read.
    """
    given = _parsed(options)
    if (in_file := _SPEC.fullmatch(spec)) is None:
        return _model({_MODEL: spec, **given}, settings)
    return _from_file(in_file["path"], in_file["name"], given, settings)


def _parsed(options: Sequence[str]) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    for option in options:
        name, separator, value = option.partition("=")
        if not separator or not value.strip():
            raise ConfigError(f"{option!r} is not NAME=VALUE, such as temperature=0.5")
        if name in parsed:
            raise ConfigError(f"{name} is given twice")
        if name == _MODEL:
            raise ConfigError(f"{option!r}: the model is the judge's name, not an option")
        parsed[name] = parse_yaml(value, f"the value of {name}").value
    return parsed


def _from_file(path: str, name: str | None, given: Mapping[str, Any], settings: Settings) -> Model:
    document = read_document(path, expected="models come from")
    models = document.value
    if not isinstance(models, dict) or not models:
        raise ConfigError(f"{document.name}: expected names and the settings of each")
    name = name or (next(iter(models)) if len(models) == 1 else None)
    if name not in models:
        which = f"has no {name!r}" if name else "has several models"
        raise ConfigError(
            f"{document.name} {which}; name one: "
            + ", ".join(f"{path}#{known}" for known in models)
        )
    try:
        in_file = models[name]
        return _model({**in_file, **given} if isinstance(in_file, dict) else in_file, settings)
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
