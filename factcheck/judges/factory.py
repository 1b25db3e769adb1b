"""From what a user names to the objects that answer; the only file that knows every judge."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from factcheck.errors import ConfigError
from factcheck.judges.ports import Checker, Embedder, Extractor, PairJudge, Rater
from factcheck.runtime.options import CallOptions
from factcheck.settings import LOCAL, Settings

if TYPE_CHECKING:
    from factcheck.judges.embedders.openai import OpenAIEmbedder
    from factcheck.judges.llm.language_model import LanguageModel

REPLAY = "replay:"
"""What the name of a recorded judge starts with: `replay:FILE` or `replay:FILE#JUDGE`."""
PAIRS_PER_CALL = 16
"""Pairs of values a language model compares in one call, unless the caller says otherwise."""
_CASCADE = re.compile(r"cascade\(\s*([^\s(),]+)\s*,\s*(.+?)\s*\)")
_PROVIDER_MODEL = re.compile(r"[\w.-]+/\S+")


@dataclass(frozen=True, slots=True)
class Judges:
    """Who extracts and who checks."""

    extractor: Extractor
    checker: Checker
    models: tuple[LanguageModel, ...]
    """Language models behind them, to be closed after use."""


def build_judges(
    judge: Any,
    extractor: Any,
    settings: Settings,
    options: CallOptions,
    *,
    record: str | PathLike[str] | None = None,
) -> Judges:
    """The objects behind `judge` and `extractor`.

    Args:
        judge: `"local"`, `"PROVIDER/MODEL"`, `"replay:FILE"`, a `dspy.BaseLM`, an object with the
            `Checker` port, or `None` for what the settings say.
        extractor: The same with the `Extractor` port; `None` for what the settings say, which is
            the judge itself where it can extract, else `"local"`.
        settings: Defaults, keys and addresses.
        options: How language models are called.
        record: A cassette that every answer is added to, or `None`.

    Raises:
        ConfigError: A name is not known, a key is missing, or an object fulfils no port.
    """
    judge = settings.judge if judge is None else judge
    extractor = settings.extractor if extractor is None else extractor
    if extractor is None:
        extracts = _is_model(judge) or _is_replay(judge) or _fulfils(judge, Extractor)
        extractor = judge if extracts else LOCAL
    models = _Models(settings, options)
    judges = Judges(_extractor(extractor, models), _checker(judge, models, options), ())
    if record is not None:
        from factcheck.judges.replay import CassetteWriter, RecordingChecker, RecordingExtractor

        cassette = CassetteWriter(record)
        judges = Judges(
            RecordingExtractor(judges.extractor, cassette),
            RecordingChecker(judges.checker, cassette),
            (),
        )
    return replace(judges, models=models.connected)


class BuiltPairJudge(NamedTuple):
    """Who compares values."""

    judge: PairJudge
    models: tuple[LanguageModel, ...]
    """Language models behind it, to be closed after use."""


def build_pair_judge(
    spec: Any, settings: Settings, options: CallOptions, *, pairs_per_call: int = PAIRS_PER_CALL
) -> BuiltPairJudge:
    """The object behind `spec` that compares values.

    Args:
        spec: `"local"`, `"PROVIDER/MODEL"`, `"cascade(FIRST, SECOND)"` of such names, a
            `dspy.BaseLM`, an object with the `PairJudge` port, or `None` for the judge that the
            settings name.
        settings: Defaults, keys and addresses.
        options: How language models are called.
        pairs_per_call: Pairs a language model compares in one call, from 1 to 100.

    Raises:
        ConfigError: A name is not known, a key is missing, or an object does not fulfil the port.
        InputError: `pairs_per_call` is out of range.
    """
    models = _Models(settings, options)
    judge = _pair_judge(settings.judge if spec is None else spec, models, pairs_per_call)
    return BuiltPairJudge(judge, models.connected)


class BuiltRater(NamedTuple):
    """Who rates summaries."""

    rater: Rater
    models: tuple[LanguageModel, ...]
    """Language models behind it, to be closed after use."""


def build_rater(spec: Any, settings: Settings, options: CallOptions) -> BuiltRater:
    """The object behind `spec` that rates summaries from 1 to 5.

    Args:
        spec: `"PROVIDER/MODEL"`, a `dspy.BaseLM`, an object with the `Rater` port, or `None` for
            the judge that the settings name.
        settings: Defaults, keys and addresses.
        options: How language models are called.

    Raises:
        ConfigError: A name is not known or names who gives no ratings, a key is missing, or an
            object does not fulfil the port.
    """
    spec = settings.judge if spec is None else spec
    if _is_model(spec):
        from factcheck.judges.llm.rating import LLMRater

        models = _Models(settings, options)
        return BuiltRater(LLMRater(models[spec]), models.connected)
    if _fulfils(spec, Rater):
        rater: Rater = spec
        return BuiltRater(rater, ())
    raise _no_rater(spec)


class BuiltEmbedder(NamedTuple):
    """Who turns texts into vectors."""

    embedder: Embedder
    models: tuple[OpenAIEmbedder, ...]
    """What of it has connections, to be closed after use."""


def build_embedder(
    spec: Any, settings: Settings, options: CallOptions, *, model_name: str | None = None
) -> BuiltEmbedder:
    """The object behind `spec` that turns texts into vectors.

    Args:
        spec: `"local"`, `"openai"`, `"openai/MODEL"`, `"sentence-transformers/MODEL"`, an object
            with the `Embedder` port, an object with `encode`, or a function from texts to vectors.
        settings: Keys and addresses.
        options: How a server is called.
        model_name: The model of a provider that is named without one; with `"local"` that of
            sentence-transformers. For a function, its name in score signatures.

    Raises:
        ConfigError: A name is not known, a key or package is missing, or an object is no embedder.
    """
    if model_name is not None and not (isinstance(model_name, str) and model_name.strip()):
        raise ConfigError(f"model_name must be the name of a model, not {model_name!r}")
    if isinstance(spec, str):
        return _named_embedder(spec, model_name, settings, options)
    if _fulfils(spec, Embedder):
        if model_name is not None:
            raise ConfigError(f"{type(spec).__name__} names itself; leave out {model_name=}")
        embedder: Embedder = spec
        return BuiltEmbedder(embedder, ())
    function = getattr(spec, "encode", spec)
    if isinstance(spec, type) or not callable(function):
        raise ConfigError(
            f"{type(spec).__name__} is no embedder: it needs `identity` and "
            "`async embed(texts, ledger)`, or `encode(texts)`, or must be a function of texts"
        )
    from factcheck.judges.embedders.callable import CallableEmbedder

    return BuiltEmbedder(CallableEmbedder(function, model_name), ())


def _named_embedder(
    spec: str, model_name: str | None, settings: Settings, options: CallOptions
) -> BuiltEmbedder:
    provider, _, named = spec.partition("/")
    if named and model_name:
        raise ConfigError(f"{spec!r} names a model already; leave out model_name={model_name!r}")
    model = named or model_name
    if provider == "openai":
        from factcheck.judges.embedders.openai import DEFAULT_MODEL, OpenAIEmbedder

        remote = OpenAIEmbedder(model or DEFAULT_MODEL, settings, options)
        return BuiltEmbedder(remote, (remote,))
    if provider == LOCAL and not model:
        from factcheck.judges.embedders.local import LocalEmbedder

        return BuiltEmbedder(LocalEmbedder(), ())
    if provider in {LOCAL, "sentence-transformers"} and model:
        from factcheck.judges.embedders.transformers import SentenceTransformerEmbedder

        return BuiltEmbedder(SentenceTransformerEmbedder(model), ())
    raise ConfigError(
        f"unknown embedding provider {spec!r}; use 'local', 'openai', 'openai/MODEL', "
        "'sentence-transformers/MODEL', or an object with encode(texts)"
    )


class _Models:
    """Language models by what names them; one that both extracts and checks is one object."""

    def __init__(self, settings: Settings, options: CallOptions) -> None:
        self._settings = settings
        self._options = options
        self._models: dict[Any, LanguageModel] = {}

    def __getitem__(self, spec: Any) -> LanguageModel:
        from factcheck.judges.llm.language_model import connect

        key = spec if isinstance(spec, str) else id(spec)
        if key not in self._models:
            self._models[key] = connect(spec, self._settings, self._options)
        return self._models[key]

    @property
    def connected(self) -> tuple[LanguageModel, ...]:
        return tuple(self._models.values())


def _checker(spec: Any, models: _Models, options: CallOptions) -> Checker:
    if _is_model(spec):
        from factcheck.judges.llm.checker import LLMChecker

        return LLMChecker(models[spec], facts_per_call=options.facts_per_call)
    if isinstance(spec, str) and spec == LOCAL:
        from factcheck.judges.local.checker import LocalChecker

        return LocalChecker()
    if _is_replay(spec):
        from factcheck.judges.replay import ReplayChecker, parse_spec

        return ReplayChecker(*parse_spec(spec))
    if _fulfils(spec, Checker):
        checker: Checker = spec
        return checker
    raise _unknown("judge", spec, "check(facts, text, ledger)")


def _extractor(spec: Any, models: _Models) -> Extractor:
    if _is_model(spec):
        from factcheck.judges.llm.extractor import LLMExtractor

        return LLMExtractor(models[spec])
    if isinstance(spec, str) and spec == LOCAL:
        from factcheck.judges.local.extractor import LocalExtractor

        return LocalExtractor()
    if _is_replay(spec):
        from factcheck.judges.replay import ReplayExtractor, parse_spec

        return ReplayExtractor(*parse_spec(spec))
    if _fulfils(spec, Extractor):
        extractor: Extractor = spec
        return extractor
    raise _unknown("extractor", spec, "extract(source, ledger)")


def _pair_judge(spec: Any, models: _Models, pairs_per_call: int) -> PairJudge:
    if _is_model(spec):
        from factcheck.judges.llm.pairs import LLMPairJudge

        return LLMPairJudge(models[spec], pairs_per_call=pairs_per_call)
    if isinstance(spec, str) and spec == LOCAL:
        from factcheck.judges.local.pairs import LocalPairJudge

        return LocalPairJudge()
    if isinstance(spec, str) and (cascade := _CASCADE.fullmatch(spec)):
        from factcheck.judges.cascade import CascadePairJudge

        first, second = (_pair_judge(part, models, pairs_per_call) for part in cascade.groups())
        return CascadePairJudge(first, second)
    if _fulfils(spec, PairJudge):
        judge: PairJudge = spec
        return judge
    raise _no_pair_judge(spec)


def _fulfils(spec: Any, port: type) -> bool:
    return not isinstance(spec, (str, type)) and isinstance(spec, port)


def _is_model(spec: Any) -> bool:
    """Whether a spec stands for a language model. DSPy is only asked where it must be loaded."""
    if isinstance(spec, str):
        return not _is_replay(spec) and _PROVIDER_MODEL.fullmatch(spec) is not None
    return any(base.__module__.startswith("dspy.") for base in type(spec).__mro__)


def _is_replay(spec: Any) -> bool:
    return isinstance(spec, str) and spec.startswith(REPLAY)


def _unknown(role: str, spec: Any, method: str) -> ConfigError:
    if isinstance(spec, str):
        return ConfigError(
            f"unknown {role} {spec!r}; use 'local', 'PROVIDER/MODEL' such as 'openai/gpt-5-nano', "
            "or 'replay:FILE'"
        )
    return ConfigError(
        f"{type(spec).__name__} is no {role}: it needs `identity` and `async {method}`"
    )


def _no_pair_judge(spec: Any) -> ConfigError:
    if _is_replay(spec):
        return ConfigError(
            f"{spec!r} cannot compare values: recordings hold verdicts on facts only; "
            "use 'local', 'PROVIDER/MODEL' or 'cascade(FIRST, SECOND)'"
        )
    if isinstance(spec, str):
        return ConfigError(
            f"unknown judge {spec!r}; use 'local', 'PROVIDER/MODEL' such as 'openai/gpt-5-nano', "
            "or 'cascade(FIRST, SECOND)' of these"
        )
    return _unknown("pair judge", spec, "compare(pairs, ledger)")


def _no_rater(spec: Any) -> ConfigError:
    use = "use 'PROVIDER/MODEL' such as 'openai/gpt-5-nano', or an object with the `Rater` port"
    if isinstance(spec, str) and spec == LOCAL:
        return ConfigError(f"the embedded judge checks facts and gives no ratings; {use}")
    if _is_replay(spec):
        return ConfigError(
            f"{spec!r} cannot rate a summary: recordings hold verdicts on facts only; {use}"
        )
    if isinstance(spec, str):
        return ConfigError(f"unknown rater {spec!r}; {use}")
    return _unknown("rater", spec, "rate(source, summary, ledger)")
