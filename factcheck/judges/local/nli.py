"""The judge `nli:MODEL`: any cross-encoder for natural language inference, run by onnxruntime.

Passages are chosen as for the embedded judge; the model rates whether each entails the fact, and
the best one counts.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from factcheck.errors import ConfigError, JudgeError, describe
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Verdict
from factcheck.judges.local.checker import CERTAIN, DECISION, find_verbatim
from factcheck.judges.local.conflicts import read_sentence
from factcheck.judges.local.evidence import Text, passages, read_text
from factcheck.judges.ports import Ledger
from factcheck.runtime.deadline import checkpoint, decide_each, run_in_thread
from factcheck.text.weights import open_session

_MOST_PASSAGES = 4
"""Maximum number of passages rated per fact, besides the text as a whole if it is short enough."""
_LONGEST = 512
"""Maximum number of tokens in a pair, if the model allows as many."""
_CHARACTERS = 12
"""Characters per token above which a pair is too long, without being tokenised."""
_CONFIG, _TOKENIZER = "config.json", "tokenizer.json"
_ALIKE = 0.8
"""Minimum mean match of a passage for a contradiction."""
_LOOP = b"\x22\x04Loop"
"""A node of the type `Loop` in a serialised graph; no other type of node may run for ever."""
_LOCATION = re.compile(rb"\x0a\x08location\x12(?P<size>[\x80-\xff]*[\x00-\x7f])", re.DOTALL)
"""An entry of a serialised graph that names a file of weights: the length of its name follows."""
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_NETWORKS = ("model.onnx", "onnx/model.onnx")


class NliChecker:
    """Checks facts offline with a model for natural language inference.

    A fact is entailed if a passage of one or two sentences, or the text as a whole, entails it with
    a probability of at least 0.5; contradicted if a passage with nearly the same words contradicts
    it. The accuracy depends on the model: measure it with `calibrate`.

    Args:
        model: A folder with `config.json`, `tokenizer.json` and `model.onnx` or `onnx/model.onnx`;
            or the Hugging Face name of a model with these files, downloaded on first use.

    Raises:
        ConfigError: A file is missing or invalid, or the model's labels do not name entailment.
    """

    def __init__(self, model: str) -> None:
        self._model = _load(model)
        folder = Path(model).expanduser()
        self._judge = f"nli:{folder.resolve().name if folder.is_dir() else model}"

    @property
    def identity(self) -> Mapping[str, str]:
        """Judge name, without the path of a folder, and 8 hex digits of the files' SHA-256."""
        return {"judge": f"{self._judge}@{self._model.digest}"}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One result per fact, in fact order; free of charge."""
        del ledger
        return await run_in_thread(self._check, facts, text)

    def _check(self, facts: Sequence[AtomicFact], text: str) -> tuple[CheckResult, ...]:
        read = read_text(text)
        return decide_each(lambda fact: self._decide(fact, text, read), facts, CheckFailure.of)

    def _decide(self, fact: AtomicFact, text: str, read: Text) -> CheckResult:
        if not text.strip():
            return Verdict(fact, "neutral", 0.0, reason="the text is empty", judge=self._judge)
        if evidence := find_verbatim(fact.text, text, read):
            return Verdict(fact, "entailed", CERTAIN, evidence, "stated verbatim", self._judge)
        try:
            return self._verdict(fact, text, read)
        except JudgeError as error:
            return CheckFailure.of(fact, error)

    def _verdict(self, fact: AtomicFact, text: str, read: Text) -> Verdict:
        self._model.require_short(fact.text)
        best, entailing, against = 0.0, None, None
        for passage in islice(passages(read_sentence(fact.text), read), _MOST_PASSAGES):
            checkpoint()
            entailed, contradicted = self._model.rate(passage.text, fact.text)
            if entailed > best:
                best, entailing = entailed, passage
            if against is None and passage.matched[1] >= _ALIKE and contradicted >= DECISION:
                against = passage
        if best < DECISION and self._model.fits(text, fact.text):
            whole, _ = self._model.rate(text, fact.text)
            best, entailing = max((best, entailing), (whole, None), key=lambda two: two[0])
        probability = round(best, 6)
        if best >= DECISION:
            place = entailing.sentences[0].evidence if entailing else None
            reason = "a passage entails it" if entailing else "the text as a whole entails it"
            return Verdict(fact, "entailed", probability, place, reason, self._judge)
        if against is not None:
            place, reason = against.sentences[0].evidence, "the closest passage contradicts it"
            return Verdict(fact, "contradicted", probability, place, reason, self._judge)
        return Verdict(fact, "neutral", probability, None, "no passage entails it", self._judge)


class _CrossEncoder:
    """A network with its tokenizer; rates one pair a call, so that ratings are independent."""

    def __init__(self, model: str) -> None:
        import tokenizers

        config_file, tokenizer_file, network = _files(model)
        try:
            weights = _weights_of(network)
            self.digest = _digest([config_file, tokenizer_file, network, *weights])
            config = json.loads(config_file.read_text("utf-8"))
            names = [
                str(config["id2label"][str(at)]).lower() for at in range(len(config["id2label"]))
            ]
            limit = int(config.get("max_position_embeddings") or _LONGEST)
            self._longest = min(limit, _LONGEST)
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(tokenizer_file))
            self._tokenizer.no_padding()
            self._tokenizer.enable_truncation(self._longest, strategy="only_first")
            self._session = open_session(str(network))
            outputs = [each.name for each in self._session.get_outputs()]
            self._output = "logits" if "logits" in outputs else outputs[0]
            self._types = {
                each.name: each.type[len("tensor(") : -1] for each in self._session.get_inputs()
            }
            n_odds = self._odds("It rains.", "It rains.").shape
        except BaseException as error:  # each library raises types of its own
            _reraise_interrupt(error)
            raise ConfigError(f"nli:{model} cannot be loaded: {describe(error)}") from error
        if names.count("entailment") != 1 or n_odds != (len(names),) or len(names) == 1:
            raise ConfigError(
                f"nli:{model}: {_CONFIG} names the labels {', '.join(names)} (id2label); one of at "
                f"least two must be 'entailment', and the network gives odds of shape {n_odds}"
            )
        self._entailment = names.index("entailment")
        self._contradiction = names.index("contradiction") if "contradiction" in names else None

    def require_short(self, fact: str) -> None:
        """Raise `JudgeError` for a fact that needs more than half of what the model reads."""
        most = self._longest // 2
        if len(fact) > most * _CHARACTERS or len(self._encode(fact).ids) > most:
            raise JudgeError("the fact is too long for the model; split it into shorter facts")

    def fits(self, text: str, fact: str) -> bool:
        """Whether the model can read a text together with a fact."""
        if len(text) > self._longest * _CHARACTERS:
            return False
        return not self._encode(text, fact).overflowing

    def rate(self, passage: str, fact: str) -> tuple[float, float]:
        """Return the probabilities that a passage entails and that it contradicts a fact.

        The passage is cut to what the model reads.

        Raises:
            JudgeError: The odds are no numbers.
        """
        import numpy as np

        odds = self._odds(passage[: self._longest * _CHARACTERS], fact)
        if not np.isfinite(odds).all():
            raise JudgeError("the model's odds are no numbers")
        shares = np.exp(odds - odds.max())
        shares /= shares.sum()
        contradiction = self._contradiction
        denied = 0.0 if contradiction is None else float(shares[contradiction])
        return float(shares[self._entailment]), denied

    def _odds(self, passage: str, fact: str) -> Any:
        """Return the log odds of each label."""
        import numpy as np

        pair = self._encode(passage, fact)
        known = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        inputs = {name: np.array([known[name]], kind) for name, kind in self._types.items()}
        try:
            return self._session.run([self._output], inputs)[0][0].astype(np.float64)
        except Exception as error:  # of onnxruntime, which exports no base class
            raise JudgeError(f"the network failed: {describe(error)}") from error

    def _encode(self, *texts: str) -> Any:
        """Tokenise texts; raises `JudgeError` if the tokenizer fails, or even panics."""
        try:
            return self._tokenizer.encode(*texts)
        except BaseException as error:  # a panic is no `Exception`
            _reraise_interrupt(error)
            raise JudgeError(f"the tokenizer failed: {describe(error)}") from error


def _reraise_interrupt(error: BaseException) -> None:
    if isinstance(error, (KeyboardInterrupt, SystemExit)):
        raise error


def _weights_of(network: Path) -> list[Path]:
    """Return the files of weights that a graph names.

    Raises:
        ConfigError: The graph may never end.
    """
    graph = network.read_bytes()
    if _LOOP in graph:
        raise ConfigError("the graph has a Loop, which may never end; export the model without one")
    names = set()
    for found in _LOCATION.finditer(graph):
        size = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(found["size"]))
        names.add(graph[found.end() : found.end() + size].decode())
    return [network.parent / name for name in sorted(names)]


def _digest(paths: Sequence[Path]) -> str:
    """Return 8 hex digits of the SHA-256 of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


@lru_cache(maxsize=2)
def _load(model: str) -> _CrossEncoder:
    return _CrossEncoder(model)


def _files(model: str) -> tuple[Path, Path, Path]:
    """Locate the configuration, the tokenizer and the network of a model."""
    folder = Path(model).expanduser()
    wanted = (_CONFIG, _TOKENIZER, *_NETWORKS)
    if not folder.is_dir():
        if not _HUB_NAME.fullmatch(model):
            raise ConfigError(f"nli:{model}: there is no such folder")
        folder = _download(model, wanted)
    network = next((folder / name for name in _NETWORKS if (folder / name).is_file()), None)
    missing = [name for name in wanted[:2] if not (folder / name).is_file()]
    if network is None:
        missing.append(_NETWORKS[0])
    if missing or network is None:
        raise ConfigError(
            f"nli:{model} lacks {' and '.join(missing)}; convert the model with "
            "`optimum-cli export onnx --model NAME FOLDER` and name the folder"
        )
    return folder / _CONFIG, folder / _TOKENIZER, network


def _download(model: str, wanted: Sequence[str]) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, allow_patterns=[*wanted, "*model.onnx_data"]))
    except Exception as error:  # of the hub, the network or the file system
        raise ConfigError(
            f"{model!r} is no folder, and cannot be downloaded from Hugging Face: {error}"
        ) from error
