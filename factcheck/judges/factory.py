"""Builds judges, extractors, raters and embedders from their specs; knows every implementation."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from factcheck.errors import ConfigError, FactcheckError, JudgeError, describe
from factcheck.judges.cascade import CascadeChecker, CascadePairJudge, parse_cascade
from factcheck.judges.ports import (
    Checker,
    Embedder,
    EmbedderSpec,
    Extractor,
    ExtractorSpec,
    JudgeSpec,
    Ledger,
    PairJudge,
    PairJudgeSpec,
    Rater,
    RaterSpec,
)
from factcheck.runtime.loop import BackgroundLoop, background
from factcheck.settings import LOCAL, Model, Settings, require_integer

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.runtime.session import Session

FACTS_PER_CALL = 32
"""Facts a language model checks in one request, unless the caller says otherwise: of 20 to 64 facts
10 to 18 % cheaper than 16, with half the requests."""
BATCH_SIZE = 16
"""The same for pairs of values."""
MAX_BATCH_SIZE = 100
"""Items in one request, beyond which models mix them up."""
_LOCAL_FAST = "local-fast"
_REPLAY = "replay:"
_MODEL_FILE = re.compile(r"(?!replay:)\S.*\.ya?ml(?:#.+)?", re.IGNORECASE)
_PROVIDER_MODEL = re.compile(r"[\w.-]+/\S+")
_MODEL_HINT = "'PROVIDER/MODEL' such as 'openai/gpt-5-nano'"


class Isolated:
    """Fulfils every port that the judge inside fulfils.

    Its methods may block, and raise anything: what is not an error of this package becomes a
    `JudgeError`. Called from the shared loop they run in a loop of their own; called from any other
    loop they run there, since the judge may hold connections that belong to it.
    """

    def __init__(self, judge: Any) -> None:
        self._judge = judge
        self._loop = BackgroundLoop("factcheck-judge")
        weakref.finalize(self, self._loop.stop)

    @property
    def identity(self) -> Mapping[str, str]:
        identity: Mapping[str, str] = self._judge.identity
        return identity

    async def extract(self, source: str, ledger: Ledger) -> Any:
        return await self._call("extract", source, ledger)

    async def check(self, facts: Sequence[Any], text: str, ledger: Ledger) -> Any:
        return await self._call("check", facts, text, ledger)

    async def compare(self, pairs: Sequence[Any], ledger: Ledger) -> Any:
        return await self._call("compare", pairs, ledger)

    async def rate(self, source: str, summary: str, ledger: Ledger) -> Any:
        return await self._call("rate", source, summary, ledger)

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Any:
        return await self._call("embed", texts, ledger)

    async def _call(self, method: str, *arguments: Any) -> Any:
        async def work() -> Any:
            try:
                return await getattr(self._judge, method)(*arguments)
            except FactcheckError:
                raise
            except Exception as error:
                name = type(self._judge).__name__
                raise JudgeError(f"{name} raised {describe(error)}") from error

        return await (self._loop.hop(work()) if background.is_current else work())

    async def aclose(self) -> None:
        """End the loop; the next call starts another one."""
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
    """The extractor and checker that two specs name; see `FactCoverage`.

    A judge of `None` is that of the settings; an extractor of `None` too, or else the judge (of a
    cascade, the last one) if it can extract, or else `"local"`. With a cassette, every answer is
    recorded to it.
    """
    require_integer("batch_size", batch_size, 1, MAX_BATCH_SIZE)
    judge = session.settings.judge if judge is None else judge
    extractor = session.settings.extractor if extractor is None else extractor
    if extractor is None:
        last: Any = judge
        while cascade := parse_cascade(last):
            last = cascade.second
        extracts = _is_model(last) or _is_replay(last) or _fulfils(last, Extractor)
        extractor = cast("ExtractorSpec", last) if extracts else LOCAL
    judges = Judges(_extractor(extractor, session), _checker(judge, session, batch_size))
    if cassette is None:
        return judges
    from factcheck.judges.replay.cassette import CassetteWriter
    from factcheck.judges.replay.judges import RecordingChecker, RecordingExtractor

    writer = CassetteWriter(cassette)
    return Judges(
        RecordingExtractor(judges.extractor, writer), RecordingChecker(judges.checker, writer)
    )


def _checker(spec: Any, session: Session, batch_size: int) -> Checker:
    if cascade := parse_cascade(spec):
        return CascadeChecker(
            *(_checker(judge, session, batch_size) for judge in (cascade.first, cascade.second)),
            low=cascade.low,
            high=cascade.high,
            batch_size=_request_size(cascade.second, batch_size),
        )
    if _is_model(spec):
        from factcheck.judges.llm.judges import LLMChecker, RepeatedChecker

        model = _model(spec, session)
        times = range(model.settings.repeats)
        checkers = [LLMChecker(model, batch_size=batch_size, number=n) for n in times]
        return RepeatedChecker(checkers) if len(checkers) > 1 else checkers[0]
    if _is_local(spec):
        from factcheck.judges.local.checker import LocalChecker

        return LocalChecker()
    if isinstance(spec, str) and spec == _LOCAL_FAST:
        from factcheck.judges.local.containment import WordContainment

        return WordContainment()
    if _is_replay(spec):
        from factcheck.judges.replay.judges import ReplayChecker

        return ReplayChecker(spec.removeprefix(_REPLAY))
    if _fulfils(spec, Checker):
        return _isolated(spec, session)
    names = (
        f"'local', '{_LOCAL_FAST}', {_MODEL_HINT}, 'replay:FILE', or 'cascade(FIRST, SECOND)' of "
        "these"
    )
    raise _unknown("judge", spec, names, "check(facts, text")


def _extractor(spec: Any, session: Session) -> Extractor:
    if _is_model(spec):
        from factcheck.judges.llm.extractor import LLMExtractor

        return LLMExtractor(_model(spec, session))
    if _is_local(spec):
        from factcheck.judges.local.extractor import LocalExtractor

        return LocalExtractor()
    if _is_replay(spec):
        from factcheck.judges.replay.judges import ReplayExtractor

        return ReplayExtractor(spec.removeprefix(_REPLAY))
    if _fulfils(spec, Extractor):
        return _isolated(spec, session)
    names = f"'local', {_MODEL_HINT}, or 'replay:FILE'"
    raise _unknown("extractor", spec, names, "extract(source")


def build_pair_judge(
    spec: PairJudgeSpec | None, session: Session, *, batch_size: int = BATCH_SIZE
) -> PairJudge:
    """The judge of value pairs that a spec names; see `SemanticComparator`."""
    require_integer("batch_size", batch_size, 1, MAX_BATCH_SIZE)
    spec = session.settings.judge if spec is None else spec
    if cascade := parse_cascade(spec):
        first, second = (
            build_pair_judge(cast("PairJudgeSpec", judge), session, batch_size=batch_size)
            for judge in (cascade.first, cascade.second)
        )
        return CascadePairJudge(
            first,
            second,
            low=cascade.low,
            high=cascade.high,
            batch_size=_request_size(cascade.second, batch_size),
        )
    if _is_model(spec):
        from factcheck.judges.llm.judges import LLMPairJudge

        return LLMPairJudge(_model(spec, session), batch_size=batch_size)
    if _is_local(spec):
        from factcheck.judges.local.pairs import LocalPairJudge

        return LocalPairJudge()
    if _fulfils(spec, PairJudge):
        return _isolated(spec, session)
    names = f"'local', {_MODEL_HINT}, or 'cascade(FIRST, SECOND)' of these"
    if _is_replay(spec):
        raise ConfigError(
            f"{spec!r} cannot compare values: cassettes hold verdicts on facts only; use {names}"
        )
    raise _unknown("pair judge", spec, names, "compare(pairs")


def build_rater(spec: RaterSpec | None, session: Session) -> Rater:
    """The rater of summaries, from 1 to 5, that a spec names; `None`: the judge of the settings."""
    spec = session.settings.judge if spec is None else spec
    if _is_model(spec):
        from factcheck.judges.llm.judges import LLMRater

        return LLMRater(_model(spec, session))
    if _fulfils(spec, Rater):
        return _isolated(spec, session)
    names = f"{_MODEL_HINT}, or an object with the `Rater` port"
    if _is_local(spec):
        raise ConfigError(f"the embedded judge checks facts and gives no ratings; use {names}")
    if _is_replay(spec):
        raise ConfigError(f"{spec!r} cannot rate: cassettes hold verdicts on facts; use {names}")
    raise _unknown("rater", spec, names, "rate(source, summary")


def build_embedder(spec: EmbedderSpec, session: Session) -> Embedder:
    """The embedder that a spec names; see `ReferenceMatch`."""
    if isinstance(spec, str):
        return _named_embedder(spec, session)
    if _fulfils(spec, Embedder):
        return _isolated(spec, session)
    function = getattr(spec, "encode", spec)
    if isinstance(spec, type) or not callable(function):
        raise ConfigError(
            f"{type(spec).__name__} is not an embedder: it needs `identity` and "
            "`async embed(texts, ledger)`, or `encode(texts)`, or must be a function of texts"
        )
    from factcheck.judges.embedders.vectors import CallableEmbedder

    return _isolated(CallableEmbedder(function), session)


def _named_embedder(spec: str, session: Session) -> Embedder:
    provider, _, model = spec.partition("/")
    if provider == "openai":
        from factcheck.judges.embedders.openai import DEFAULT_MODEL, OpenAIEmbedder

        name = model or DEFAULT_MODEL
        return session.connection("embeddings", name, lambda: OpenAIEmbedder(name, session))
    if spec == LOCAL:
        from factcheck.judges.embedders.local import LocalEmbedder

        return LocalEmbedder()
    raise ConfigError(
        f"unknown embedding provider {spec!r}; use 'local', 'openai', 'openai/MODEL', "
        "or in Python an object with encode(texts), such as a SentenceTransformer"
    )


def _model(spec: Any, session: Session) -> LanguageModel:
    from factcheck.judges.llm.language_model import connect

    return session.connection("chat", spec, lambda: connect(_with_settings(spec, session), session))


def build_model(spec: str | Model, session: Session) -> LanguageModel:
    """A language model by name, without a memory for its answers."""
    if not _is_model(spec):
        raise ConfigError(f"{spec!r} names no language model; use {_MODEL_HINT}")
    from factcheck.judges.llm.language_model import connect

    model = connect(_with_settings(spec, session), session, keep=False)
    return session.connection("trial", spec, lambda: model)


def model_with(spec: str, options: Sequence[str], settings: Settings) -> Model:
    """The model that a judge's name stands for, with settings from `NAME=VALUE` options."""
    if not _is_model(spec):
        hint = "; name those of a cascade in a file: 'cascade(local, judges.yaml#NAME)'"
        raise ConfigError(
            f"options are for a language model, {_MODEL_HINT}, not for {spec!r}"
            + (hint if parse_cascade(spec) else "")
        )
    from factcheck.judges.llm.model_file import read_model

    return read_model(spec, settings, options)


def _with_settings(spec: Any, session: Session) -> Any:
    """The model that a file describes, where a spec names one there; any other as it is."""
    return model_with(spec, (), session.settings) if _is_model_file(spec) else spec


def _is_model_file(spec: object) -> bool:
    return isinstance(spec, str) and _MODEL_FILE.fullmatch(spec) is not None


def _isolated(judge: object, session: Session) -> Isolated:
    return session.connection("isolated", judge, lambda: Isolated(judge))


def _request_size(spec: Any, batch_size: int) -> int:
    """Questions in one request to a judge; 0 for one that sends none."""
    if cascade := parse_cascade(spec):
        first, second = (_request_size(one, batch_size) for one in (cascade.first, cascade.second))
        return first or second
    return batch_size if _is_model(spec) else 0


def _fulfils(spec: object, port: type) -> bool:
    return not isinstance(spec, (str, type)) and isinstance(spec, port)


def _is_local(spec: object) -> bool:
    return isinstance(spec, str) and spec == LOCAL


def _is_model(spec: object) -> bool:
    """Whether a spec is or names a language model; nothing is imported to find out."""
    if isinstance(spec, str):
        return not _is_replay(spec) and (
            _is_model_file(spec) or _PROVIDER_MODEL.fullmatch(spec) is not None
        )
    if isinstance(spec, Model):
        return True
    dspy = sys.modules.get("dspy")
    return dspy is not None and isinstance(spec, dspy.BaseLM)


def _is_replay(spec: object) -> bool:
    return isinstance(spec, str) and spec.startswith(_REPLAY)


def _unknown(role: str, spec: object, names: str, method: str) -> ConfigError:
    if isinstance(spec, str):
        return ConfigError(f"unknown {role} {spec!r}; use {names}")
    return ConfigError(
        f"{type(spec).__name__} is not a {role}: it needs `identity` and `async {method}, ledger)`"
    )
