"""Factory of judges, extractors and embedders from their specs."""

from __future__ import annotations

import asyncio
import re
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partialmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from factcheck.errors import ConfigError, FactcheckError, JudgeError, describe
from factcheck.judges.cascade import CascadeJudge, parse_cascade
from factcheck.judges.ports import (
    Checker,
    Embedder,
    EmbedderSpec,
    Extractor,
    ExtractorSpec,
    JudgeSpec,
    ModelSpec,
    PairJudge,
    PairJudgeSpec,
)
from factcheck.runtime.deadline import within_deadline
from factcheck.runtime.loop import BackgroundLoop, background
from factcheck.settings import FACTS_PER_CALL, LOCAL, Model, Settings, require_integer

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.runtime.session import Session

PAIRS_PER_CALL = 16
"""Number of value pairs in one request."""
MAX_BATCH_SIZE = 100
"""Maximum number of facts in one request; models confuse more."""
_LOCAL_FAST = "local-fast"
_REPLAY = "replay:"
_NLI = "nli:"
_WITH_ARGUMENT = (_NLI, _REPLAY)
_MODEL = "model"
_MODEL_FILE = re.compile(r"(?P<path>\S.*\.ya?ml)(?:#(?P<name>.+))?", re.IGNORECASE)
_PROVIDER_MODEL = re.compile(r"[\w.-]+/\S+")
_MODEL_HINT = "'PROVIDER/MODEL' such as 'openai/gpt-5-nano'"
_KEY = "api_key_env"
_SETTINGS = {_MODEL, _KEY, *(field.name for field in fields(Model))} - {"name", "api_key"}
"""Settings allowed in a model file."""


_SHOWN = {
    LOCAL: "'local'",
    _LOCAL_FAST: "'local-fast'",
    _MODEL: _MODEL_HINT,
    _NLI: "'nli:MODEL'",
    _REPLAY: "'replay:FILE'",
}
"""Kinds of specs, for messages."""


class _Role(NamedTuple):
    """A port, and the classes of its built-in implementations."""

    name: str
    port: type
    method: str
    """Method and first arguments of the port, for messages."""
    classes: Mapping[str, str]
    """Module and class by kind of spec."""

    @property
    def names(self) -> str:
        """Accepted names, for messages."""
        return f"{', '.join(_SHOWN[kind] for kind in self.classes)}, or 'cascade(FIRST, SECOND)'"


_JUDGE = _Role(
    "judge",
    Checker,
    "check(facts, text",
    {
        LOCAL: "local.checker:LocalChecker",
        _LOCAL_FAST: "local.containment:WordContainment",
        _MODEL: "llm.judges:LLMChecker",
        _NLI: "local.nli:NliChecker",
        _REPLAY: "replay:ReplayChecker",
    },
)
_EXTRACTOR = _Role(
    "extractor",
    Extractor,
    "extract(source",
    {
        LOCAL: "local.extractor:LocalExtractor",
        _MODEL: "llm.judges:LLMExtractor",
        _REPLAY: "replay:ReplayExtractor",
    },
)
_PAIR_JUDGE = _Role(
    "pair judge",
    PairJudge,
    "compare(pairs",
    {LOCAL: "local.pairs:LocalPairJudge", _MODEL: "llm.judges:LLMPairJudge"},
)


class Isolated:
    """Runs a user-defined judge, implementing every port that it does.

    The judge may block and raise anything: foreign exceptions become a `JudgeError`. Calls from the
    shared loop run in a separate loop; calls from any other loop run there, because the judge may
    hold connections that belong to it.
    """

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        self._loop = BackgroundLoop("factcheck-judge")
        weakref.finalize(self, self._loop.stop)

    @property
    def identity(self) -> Mapping[str, str]:
        identity: Mapping[str, str] = self._judge.identity
        return identity

    async def _call(self, method: str, *arguments: Any) -> Any:
        async def work() -> Any:
            try:
                return await getattr(self._judge, method)(*arguments)
            except (FactcheckError, asyncio.CancelledError, GeneratorExit):
                raise
            except BaseException as error:  # an exit, too, is that of the judge alone
                name = type(self._judge).__name__
                raise JudgeError(f"{name} raised {describe(error)}") from error

        async with within_deadline():
            return await (self._loop.hop(work()) if background.is_current else work())

    extract = partialmethod(_call, "extract")
    check = partialmethod(_call, "check")
    compare = partialmethod(_call, "compare")
    embed = partialmethod(_call, "embed")

    async def aclose(self) -> None:
        """Stop the loop; the next call starts another."""
        self._loop.stop()


class Judges(NamedTuple):
    """An extractor and a checker."""

    extractor: Extractor
    checker: Checker


def build_judges(
    judge: JudgeSpec | None,
    extractor: ExtractorSpec | None,
    session: Session,
    *,
    batch_size: int = FACTS_PER_CALL,
) -> Judges:
    """Build an extractor and a checker from their specs; see `FactCoverage`.

    `None` selects those of the settings. The extractor then falls back to the judge (the last one
    of a cascade) if it can extract, or else to `"local"`.
    """
    require_integer("batch_size", batch_size, 1, MAX_BATCH_SIZE)
    judge = session.settings.judge if judge is None else judge
    extractor = session.settings.extractor if extractor is None else extractor
    if extractor is None:
        last: Any = judge
        while cascade := parse_cascade(last):
            last = cascade.second
        if _is_program(last):
            last = _lm_of(last)
        extracts = _kind(last) in {_MODEL, _REPLAY} or _implements(last, Extractor)
        extractor = cast("ExtractorSpec", last) if extracts else LOCAL
    return Judges(
        _build(_EXTRACTOR, extractor, session), _build(_JUDGE, judge, session, batch_size)
    )


def is_embedded(
    judge: JudgeSpec | None, extractor: ExtractorSpec | None, settings: Settings
) -> bool:
    """Whether a judge and an extractor, or those of the settings, are embedded and no cascade."""
    judge = settings.judge if judge is None else judge
    extractor = (settings.extractor or LOCAL) if extractor is None else extractor
    return _kind(judge) in {LOCAL, _LOCAL_FAST, _NLI} and _kind(extractor) == LOCAL


def build_pair_judge(spec: PairJudgeSpec | None, session: Session) -> PairJudge:
    """Build a judge of value pairs from its spec; see `SemanticComparator`."""
    spec = session.settings.judge if spec is None else spec
    return cast("PairJudge", _build(_PAIR_JUDGE, spec, session, PAIRS_PER_CALL))


def _build(role: _Role, spec: Any, session: Session, batch_size: int = 0) -> Any:
    """Build a judge from its spec; raises `ConfigError` if it cannot serve in this role."""
    if role is not _EXTRACTOR and (cascade := parse_cascade(spec)):
        first = _build(role, cascade.first, session, batch_size)
        second = _build(role, cascade.second, session, batch_size)
        return CascadeJudge(first, second, low=cascade.low, high=cascade.high)
    kind = _kind(spec)
    if kind in role.classes:
        module, _, name = role.classes[kind].partition(":")
        judge = getattr(import_module(f"factcheck.judges.{module}"), name)
        if kind in _WITH_ARGUMENT:
            return judge(spec.removeprefix(kind))
        if kind != _MODEL:
            return judge()
        options: dict[str, Any] = {"batch_size": batch_size} if batch_size else {}
        if _is_program(spec):
            return judge(_model(_lm_of(spec), session), module=spec, **options)
        return judge(_model(spec, session), **options)
    if _implements(spec, role.port):
        return session.connection("isolated", spec, lambda: Isolated(spec))
    if isinstance(spec, str):
        raise ConfigError(f"unknown {role.name} {spec!r}; use {role.names}")
    raise ConfigError(
        f"{type(spec).__name__} cannot serve as {role.name}: "
        f"it needs `identity` and `async {role.method}, ledger)`"
    )


def build_embedder(spec: EmbedderSpec, session: Session) -> Embedder:
    """Build an embedder from its spec; see `ReferenceMatch`."""
    from factcheck.judges.embedders import NAME, CallableEmbedder, embed_text

    if spec == LOCAL:
        return CallableEmbedder(lambda texts: [*map(embed_text, texts)], NAME)
    if isinstance(spec, str):
        provider, _, model = spec.partition("/")
        if provider != "openai":
            raise ConfigError(
                f"unknown embedding provider {spec!r}; use 'local', 'openai', 'openai/MODEL', "
                "or in Python an object with encode(texts), such as a SentenceTransformer"
            )
        from factcheck.judges.llm.embedder import DEFAULT_MODEL, OpenAIEmbedder

        name = model or DEFAULT_MODEL
        return session.connection("embeddings", name, lambda: OpenAIEmbedder(name, session))
    if not _implements(spec, Embedder):
        function: Any = getattr(spec, "encode", spec)
        if isinstance(spec, type) or not callable(function):
            raise ConfigError(
                f"{type(spec).__name__} cannot serve as embedder: it needs `identity` and "
                "`async embed(texts, ledger)`, or `encode(texts)`, or must be a function of texts"
            )
        spec = CallableEmbedder(function)
    return session.connection("isolated", spec, lambda: Isolated(spec))


def _implements(spec: object, port: type) -> bool:
    return not isinstance(spec, (str, type)) and isinstance(spec, port)


def _kind(spec: object) -> str:
    """Classify a spec without importing anything; empty if unknown."""
    if not isinstance(spec, str):
        dspy = sys.modules.get("dspy")
        is_lm = dspy is not None and isinstance(spec, dspy.BaseLM)
        return _MODEL if is_lm or _is_program(spec) or isinstance(spec, Model) else ""
    if spec in {LOCAL, _LOCAL_FAST}:
        return spec
    for prefix in _WITH_ARGUMENT:
        if spec.startswith(prefix) and spec != prefix:
            return prefix
    is_named = _MODEL_FILE.fullmatch(spec) or _PROVIDER_MODEL.fullmatch(spec)
    return _MODEL if is_named and not parse_cascade(spec) else ""


def _is_program(spec: object) -> bool:
    dspy = sys.modules.get("dspy")
    return dspy is not None and isinstance(spec, dspy.Module)


def _lm_of(program: Any) -> Any:
    """Return the language model of a program of DSPy; raises `ConfigError` if it has none."""
    lm = getattr(program, "lm", None)
    if lm is None:
        raise ConfigError(
            f"the program {type(program).__name__} has no language model; give it one with "
            "set_lm(dspy.LM(...)), or configure DSPy"
        )
    return lm


def build_model(spec: ModelSpec, session: Session) -> LanguageModel:
    """Build a language model; raises `ConfigError` if the spec names none."""
    if _kind(spec) != _MODEL:
        raise ConfigError(f"{spec!r} names no language model; use {_MODEL_HINT}")
    return _model(spec, session)


def _model(spec: Any, session: Session) -> LanguageModel:
    from factcheck.judges.llm.language_model import connect

    def make() -> LanguageModel:
        is_file = isinstance(spec, str) and _MODEL_FILE.fullmatch(spec)
        model = read_model(spec, session.settings) if is_file else spec
        return connect(model, session)

    return session.connection("chat", spec, make)


def read_model(spec: str, settings: Settings, options: Sequence[str] = ()) -> Model:
    """Return the model named by `PROVIDER/MODEL` or `FILE.yaml#NAME`.

    A file maps names to settings: `model` (`PROVIDER/MODEL`), those of `factcheck.Model`, and
    `api_key_env`, the environment variable of the key; keys themselves are not allowed. The name is
    optional if there is only one. Options are `NAME=VALUE` with YAML values, and take precedence
    over the file.

    Raises:
        ConfigError: The name or a setting is unknown, or a value is invalid.
        InputError: The file cannot be read.
    """
    from factcheck.documents.reading import read_document

    if _kind(spec) != _MODEL:
        raise ConfigError(
            f"options are for a language model, {_MODEL_HINT}, not for {spec!r}; "
            "name those of a cascade in a file: 'cascade(local, judges.yaml#NAME)'"
        )
    values = _parse_options(options)
    in_file = _MODEL_FILE.fullmatch(spec)
    if in_file is None:
        return _described_model({_MODEL: spec, **values}, settings)
    path, chosen = in_file["path"], in_file["name"]
    document = read_document(path, expected="models come from")
    models = document.value
    if not isinstance(models, dict) or not models:
        raise ConfigError(f"{document.name}: expected a mapping from names to model settings")
    if chosen is None and len(models) == 1:
        (chosen,) = models
    if chosen not in models:
        known = ", ".join(f"{path}#{known}" for known in models)
        raise ConfigError(f"{document.name}: name one of its models: {known}")
    found = models[chosen]
    try:
        return _described_model({**found, **values} if isinstance(found, dict) else found, settings)
    except FactcheckError as error:
        raise ConfigError(f"{document.place((str(chosen),))}: {error}") from error


def _parse_options(options: Sequence[str]) -> dict[str, Any]:
    from factcheck.documents.yaml_documents import parse_yaml

    lines = []
    for option in options:
        name, _, value = option.partition("=")
        if not value.strip():
            raise ConfigError(f"{option!r} is not NAME=VALUE, such as temperature=0.5")
        lines.append(f"{name}: {value}")
    values: dict[str, Any] = parse_yaml("\n".join(lines), "options").value or {}
    return values


def _described_model(values: Any, settings: Settings) -> Model:
    if not isinstance(values, Mapping) or not isinstance(values.get(_MODEL), str):
        raise ConfigError("a model needs its name: `model: PROVIDER/MODEL`")
    if unknown := sorted(map(str, values.keys() - _SETTINGS)):
        raise ConfigError(
            f"unknown settings: {', '.join(unknown)}; use {', '.join(sorted(_SETTINGS))}"
        )
    options = dict(values)
    name, variable = options.pop(_MODEL), options.pop(_KEY, None)
    if variable is not None:
        options["api_key"] = settings.variable(str(variable))
        if options["api_key"] is None:
            raise ConfigError(f"{_KEY} names {variable}, which is not set")
    return Model(name, **options)
