"""Factory of judges, extractors, raters and embedders from their specs."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from factcheck.errors import ConfigError, FactcheckError, JudgeError, describe
from factcheck.judges.cascade import CascadeJudge, parse_cascade
from factcheck.judges.ports import (
    Cascade,
    Checker,
    Embedder,
    EmbedderSpec,
    Extractor,
    ExtractorSpec,
    JudgeSpec,
    PairJudge,
    PairJudgeSpec,
    Rater,
    RaterSpec,
)
from factcheck.runtime.deadline import within
from factcheck.runtime.loop import BackgroundLoop, background
from factcheck.settings import LOCAL, Model, Settings, require_integer

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.runtime.session import Session

FACTS_PER_CALL = 32
"""Default number of facts in one request: for 20 to 64 facts, 10 to 18 % cheaper than 16, with half
the requests."""
BATCH_SIZE = 16
"""Default number of value pairs in one request."""
MAX_BATCH_SIZE = 100
"""Maximum number of items in one request; models confuse more."""
_LOCAL_FAST = "local-fast"
_REPLAY = "replay:"
_MODEL = "model"
_MODEL_FILE = re.compile(r"(?P<path>\S.*\.ya?ml)(?:#(?P<name>.+))?", re.IGNORECASE)
_PROVIDER_MODEL = re.compile(r"[\w.-]+/\S+")
_MODEL_HINT = "'PROVIDER/MODEL' such as 'openai/gpt-5-nano'"
_KEY = "api_key_env"
_SETTINGS = {_MODEL, _KEY, *(field.name for field in fields(Model))} - {"name", "api_key"}
"""Settings allowed in a model file."""


def _isolated(method: str) -> Any:
    async def call(judge: Isolated, *arguments: Any) -> Any:
        return await judge.call(method, *arguments)

    return call


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

    extract = _isolated("extract")
    check = _isolated("check")
    compare = _isolated("compare")
    rate = _isolated("rate")
    embed = _isolated("embed")

    async def call(self, method: str, *arguments: Any) -> Any:
        async def work() -> Any:
            try:
                return await getattr(self._judge, method)(*arguments)
            except FactcheckError:
                raise
            except Exception as error:
                name = type(self._judge).__name__
                raise JudgeError(f"{name} raised {describe(error)}") from error

        if not background.is_current:
            return await within(work)
        return await within(lambda: self._loop.hop(work()))

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
    cassette: str | PathLike[str] | None = None,
) -> Judges:
    """Build an extractor and a checker from their specs; see `FactCoverage`.

    `None` selects those of the settings. The extractor then falls back to the judge (the last one
    of a cascade) if it can extract, or else to `"local"`. With a cassette, all answers are
    recorded.
    """
    require_integer("batch_size", batch_size, 1, MAX_BATCH_SIZE)
    judge = session.settings.judge if judge is None else judge
    extractor = session.settings.extractor if extractor is None else extractor
    if extractor is None:
        last: Any = judge
        while cascade := parse_cascade(last):
            last = cascade.second
        extracts = _kind(last) in {_MODEL, _REPLAY} or _implements(last, Extractor)
        extractor = cast("ExtractorSpec", last) if extracts else LOCAL
    judges = Judges(_extractor(extractor, session), _checker(judge, session, batch_size))
    if cassette is None:
        return judges
    from factcheck.judges.replay.cassette import CassetteWriter
    from factcheck.judges.replay.judges import RecordingChecker, RecordingExtractor

    writer = session.connection("cassette", str(cassette), lambda: CassetteWriter(cassette))
    return Judges(
        RecordingExtractor(judges.extractor, writer), RecordingChecker(judges.checker, writer)
    )


def is_embedded(
    judge: JudgeSpec | None, extractor: ExtractorSpec | None, settings: Settings
) -> bool:
    """Whether a judge and an extractor, or those of the settings, are embedded and no cascade."""
    judge = settings.judge if judge is None else judge
    extractor = (settings.extractor or LOCAL) if extractor is None else extractor
    return _kind(judge) in {LOCAL, _LOCAL_FAST} and _kind(extractor) == LOCAL


def _checker(spec: Any, session: Session, batch_size: int) -> Checker:
    if parse_cascade(spec):
        return _cascade(spec, batch_size, lambda part: _checker(part, session, batch_size))
    kind = _kind(spec)
    if kind == _MODEL:
        from factcheck.judges.llm.judges import LLMChecker

        return LLMChecker(_model(spec, session), batch_size=batch_size)
    if kind == LOCAL:
        from factcheck.judges.local.checker import LocalChecker

        return LocalChecker()
    if kind == _LOCAL_FAST:
        from factcheck.judges.local.containment import WordContainment

        return WordContainment()
    if kind == _REPLAY:
        from factcheck.judges.replay.judges import ReplayChecker

        return ReplayChecker(spec.removeprefix(_REPLAY))
    names = (
        f"'local', '{_LOCAL_FAST}', {_MODEL_HINT}, 'replay:FILE', or 'cascade(FIRST, SECOND)' of "
        "these"
    )
    return _user_defined(spec, session, "judge", Checker, names, "check(facts, text")


def _extractor(spec: Any, session: Session) -> Extractor:
    kind = _kind(spec)
    if kind == _MODEL:
        from factcheck.judges.llm.extractor import LLMExtractor

        return LLMExtractor(_model(spec, session))
    if kind == LOCAL:
        from factcheck.judges.local.extractor import LocalExtractor

        return LocalExtractor()
    if kind == _REPLAY:
        from factcheck.judges.replay.judges import ReplayExtractor

        return ReplayExtractor(spec.removeprefix(_REPLAY))
    names = f"'local', {_MODEL_HINT}, or 'replay:FILE'"
    return _user_defined(spec, session, "extractor", Extractor, names, "extract(source")


def build_pair_judge(
    spec: PairJudgeSpec | None, session: Session, *, batch_size: int = BATCH_SIZE
) -> PairJudge:
    """Build a judge of value pairs from its spec; see `SemanticComparator`."""
    require_integer("batch_size", batch_size, 1, MAX_BATCH_SIZE)
    spec = session.settings.judge if spec is None else spec
    if parse_cascade(spec):
        return _cascade(
            spec, batch_size, lambda part: build_pair_judge(part, session, batch_size=batch_size)
        )
    kind = _kind(spec)
    if kind == _MODEL:
        from factcheck.judges.llm.judges import LLMPairJudge

        return LLMPairJudge(_model(spec, session), batch_size=batch_size)
    if kind == LOCAL:
        from factcheck.judges.local.pairs import LocalPairJudge

        return LocalPairJudge()
    names = f"'local', {_MODEL_HINT}, or 'cascade(FIRST, SECOND)' of these"
    if kind == _REPLAY:
        raise ConfigError(
            f"{spec!r} cannot compare values: cassettes hold verdicts on facts only; use {names}"
        )
    return _user_defined(spec, session, "pair judge", PairJudge, names, "compare(pairs")


def _cascade(spec: Any, batch_size: int, build: Callable[[Any], Any]) -> CascadeJudge:
    """Build a cascade from its spec, with judges built by `build`."""
    cascade = cast("Cascade", parse_cascade(spec))
    return CascadeJudge(
        build(cascade.first),
        build(cascade.second),
        low=cascade.low,
        high=cascade.high,
        batch_size=_request_size(cascade.second, batch_size),
    )


def _request_size(spec: Any, batch_size: int) -> int:
    """Number of questions in one request to a judge; 0 if it sends none."""
    if cascade := parse_cascade(spec):
        first, second = (_request_size(one, batch_size) for one in (cascade.first, cascade.second))
        return first or second
    return batch_size if _kind(spec) == _MODEL else 0


def build_rater(spec: RaterSpec | None, session: Session) -> Rater:
    """Build a rater from its spec; `None` selects the judge of the settings."""
    spec = session.settings.judge if spec is None else spec
    kind = _kind(spec)
    if kind == _MODEL:
        from factcheck.judges.llm.judges import LLMRater

        return LLMRater(_model(spec, session))
    names = f"{_MODEL_HINT}, or an object with the `Rater` port"
    if kind == LOCAL:
        raise ConfigError(f"the embedded judge checks facts and gives no ratings; use {names}")
    if kind == _REPLAY:
        raise ConfigError(f"{spec!r} cannot rate: cassettes hold verdicts on facts; use {names}")
    return _user_defined(spec, session, "rater", Rater, names, "rate(source, summary")


def build_embedder(spec: EmbedderSpec, session: Session) -> Embedder:
    """Build an embedder from its spec; see `ReferenceMatch`."""
    if spec == LOCAL:
        from factcheck.judges.embedders.local import LocalEmbedder

        return LocalEmbedder()
    if isinstance(spec, str):
        provider, _, model = spec.partition("/")
        if provider != "openai":
            raise ConfigError(
                f"unknown embedding provider {spec!r}; use 'local', 'openai', 'openai/MODEL', "
                "or in Python an object with encode(texts), such as a SentenceTransformer"
            )
        from factcheck.judges.embedders.openai import DEFAULT_MODEL, OpenAIEmbedder

        name = model or DEFAULT_MODEL
        return session.connection("embeddings", name, lambda: OpenAIEmbedder(name, session))
    function = getattr(spec, "encode", spec)
    if not _implements(spec, Embedder) and callable(function) and not isinstance(spec, type):
        from factcheck.judges.embedders.vectors import CallableEmbedder

        spec = CallableEmbedder(function)
    elif not _implements(spec, Embedder):
        raise ConfigError(
            f"{type(spec).__name__} is not an embedder: it needs `identity` and "
            "`async embed(texts, ledger)`, or `encode(texts)`, or must be a function of texts"
        )
    return session.connection("isolated", spec, lambda: Isolated(spec))


def _user_defined(
    spec: Any, session: Session, role: str, port: type, names: str, method: str
) -> Isolated:
    """Wrap a user-defined judge; raises `ConfigError` if it does not implement the port."""
    if _implements(spec, port):
        return session.connection("isolated", spec, lambda: Isolated(spec))
    if isinstance(spec, str):
        raise ConfigError(f"unknown {role} {spec!r}; use {names}")
    raise ConfigError(
        f"{type(spec).__name__} is not a {role}: it needs `identity` and `async {method}, ledger)`"
    )


def _implements(spec: object, port: type) -> bool:
    return not isinstance(spec, (str, type)) and isinstance(spec, port)


def _kind(spec: object) -> str:
    """Classify a spec without importing anything; empty if unknown."""
    if isinstance(spec, str):
        if spec in {LOCAL, _LOCAL_FAST}:
            return spec
        if spec.startswith(_REPLAY):
            return _REPLAY
        is_model = not parse_cascade(spec) and (
            _MODEL_FILE.fullmatch(spec) or _PROVIDER_MODEL.fullmatch(spec)
        )
        return _MODEL if is_model else ""
    dspy = sys.modules.get("dspy")
    is_lm = dspy is not None and isinstance(spec, dspy.BaseLM)
    return _MODEL if is_lm or isinstance(spec, Model) else ""


def build_model(spec: str | Model, session: Session) -> LanguageModel:
    """Build a language model whose answers are not cached."""
    if _kind(spec) != _MODEL:
        raise ConfigError(f"{spec!r} names no language model; use {_MODEL_HINT}")
    return _model(spec, session, keep=False)


def _model(spec: Any, session: Session, *, keep: bool = True) -> LanguageModel:
    from factcheck.judges.llm.language_model import connect

    def make() -> LanguageModel:
        is_file = isinstance(spec, str) and _MODEL_FILE.fullmatch(spec)
        model = read_model(spec, session.settings) if is_file else spec
        return connect(model, session, keep=keep)

    return session.connection("chat" if keep else "trial", spec, make)


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
    from factcheck.documents.yaml_documents import parse_yaml

    if _kind(spec) != _MODEL:
        hint = "; name those of a cascade in a file: 'cascade(local, judges.yaml#NAME)'"
        raise ConfigError(
            f"options are for a language model, {_MODEL_HINT}, not for {spec!r}"
            + (hint if parse_cascade(spec) else "")
        )
    values: dict[str, Any] = {}
    for option in options:
        name, separator, value = option.partition("=")
        if not separator or not value.strip():
            raise ConfigError(f"{option!r} is not NAME=VALUE, such as temperature=0.5")
        if name in values:
            raise ConfigError(f"{name} is given twice")
        if name == _MODEL:
            raise ConfigError(f"{option!r}: the model is the judge's name, not an option")
        values[name] = parse_yaml(value, f"the value of {name}").value
    if (in_file := _MODEL_FILE.fullmatch(spec)) is None:
        return _described_model({_MODEL: spec, **values}, settings)
    return _model_in_file(in_file["path"], in_file["name"], values, settings)


def _model_in_file(
    path: str, name: str | None, values: Mapping[str, Any], settings: Settings
) -> Model:
    from factcheck.documents.reading import read_document

    document = read_document(path, expected="models come from")
    models = document.value
    if not isinstance(models, dict) or not models:
        raise ConfigError(f"{document.name}: expected a mapping from names to model settings")
    name = name or (next(iter(models)) if len(models) == 1 else None)
    if name not in models:
        which = f"has no {name!r}" if name else "has several models"
        known = ", ".join(f"{path}#{known}" for known in models)
        raise ConfigError(f"{document.name} {which}; name one: {known}")
    found = models[name]
    try:
        return _described_model({**found, **values} if isinstance(found, dict) else found, settings)
    except FactcheckError as error:
        raise ConfigError(f"{document.place((str(name),))}: {error}") from error


def _described_model(values: Any, settings: Settings) -> Model:
    if not isinstance(values, Mapping) or not isinstance(values.get(_MODEL), str):
        raise ConfigError("a model needs its name: `model: PROVIDER/MODEL`")
    if "api_key" in values:
        raise ConfigError(
            f"a key does not belong in a file; set {_KEY} to the name of its environment variable"
        )
    if unknown := sorted(map(str, values.keys() - _SETTINGS)):
        raise ConfigError(
            f"unknown settings: {', '.join(unknown)}; use {', '.join(sorted(_SETTINGS))}"
        )
    options = {name: value for name, value in values.items() if name not in {_MODEL, _KEY}}
    variable = values.get(_KEY)
    if variable is None:
        return Model(values[_MODEL], **options)
    key = settings.variable(str(variable))
    if key is None:
        raise ConfigError(f"{_KEY} names {variable}, which is not set")
    return Model(values[_MODEL], **options, api_key=key)
