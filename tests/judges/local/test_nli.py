"""The networks answer alike whatever is read beside; `nli:MODEL` with a model that is made here."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from factcheck import FactCoverage
from factcheck.errors import ConfigError, JudgeError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult
from factcheck.judges.local import encoder, nli
from factcheck.judges.local.encoder import encode, judge
from factcheck.text import syntax

LABELS = {"0": "contradiction", "1": "entailment", "2": "neutral"}
WORDS: Mapping[str, tuple[float, float, float]] = {
    "[UNK]": (0, 0, 0), "[CLS]": (0, 0, 4), "[SEP]": (0, 0, 0),
    "indeed": (0, 9, 0), "never": (9, 0, 0), "north": (0, 3, 0), "south": (0, 3, 0),
    "endless": (0, float("inf"), 0),
}  # fmt: skip
"""What each word adds to the log odds, in the order of the labels."""


def make_model(folder: Path, labels: Mapping[str, str] = LABELS, longest: int = 64) -> str:
    """Write a model whose log odds are the sums over the words of a pair; returns its spec."""
    network = folder / "onnx" / "model.onnx"
    network.parent.mkdir(parents=True)
    table = numpy_helper.from_array(np.array([*WORDS.values()], np.float32), "table")
    axis = numpy_helper.from_array(np.array([1], np.int64), "axis")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["states"]),
        helper.make_node("ReduceSum", ["states", "axis"], ["logits"], keepdims=0),
    ]
    pieces = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, None])
    odds = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 3])
    graph = helper.make_graph(nodes, "sums", [pieces], [odds], [table, axis])
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(network))
    places = {word: at for at, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(places, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A [SEP] $B:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"id2label": labels, "max_position_embeddings": longest}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return f"nli:{folder}"


@pytest.fixture
def model(tmp_path: Path) -> str:
    return make_model(tmp_path / "model")


def check(model: str, fact: str, text: str) -> CheckResult:
    with FactCoverage(model, cache=False) as scorer:
        (result,) = scorer.check([AtomicFact("f1", fact)], text)
    return result


FACT = "The harbour is closed to ships."
DENIAL = "The harbour is never closed to ships."
NORTH = "Ships wait in the north."


@pytest.mark.parametrize(
    ("text", "label", "quote"),
    [
        ("Rain fell. No ship may indeed enter.", "entailed", "No ship may indeed enter."),
        (f"Rain fell. {DENIAL}", "contradicted", DENIAL),
        ("Rain never fell on the roof of the school.", "neutral", None),
        (f"{NORTH} Rain fell. It fell on roofs. Crews sleep in the south.", "entailed", None),
        (f"{NORTH} Rain fell.", "neutral", None),
        (f"Rain never fell. {FACT}", "entailed", FACT),
        (" ", "neutral", None),
    ],
    ids=["passage", "denied", "other", "whole", "half", "verbatim", "empty"],
)  # fmt: skip
def test_the_best_passage_or_the_whole_text_decides(
    model: str, text: str, label: str, quote: str | None
) -> None:
    result = check(model, FACT, text)
    evidence = getattr(result, "evidence", None)
    assert (result.label, evidence and evidence.quote) == (label, quote)


def test_the_order_of_the_labels_is_the_models(tmp_path: Path) -> None:
    swapped = {"0": "ENTAILMENT", "1": "not_entailment", "2": "neutral"}
    model = make_model(tmp_path / "swapped", swapped)
    assert check(model, FACT, "The port never lets a ship in.").label == "entailed"
    assert check(model, FACT, "The port indeed lets no ship in.").label == "neutral"


def test_a_fact_that_the_model_cannot_read_whole_is_undecided(tmp_path: Path) -> None:
    model = make_model(tmp_path / "short", longest=16)
    result = check(model, "The harbour of the old town is closed to ships, boats and rafts.", FACT)
    assert (result.label, getattr(result, "code", "")) == ("", JudgeError.code)


def test_a_long_sentence_is_cut_and_odds_that_are_no_numbers_decide_nothing(tmp_path: Path) -> None:
    model = make_model(tmp_path / "short", longest=32)
    assert check(model, FACT, f"Indeed so {'and so ' * 400}on.").label == "neutral"
    assert check(model, FACT, f"The port is indeed {'very ' * 400} shut.").label == "entailed"
    result = check(model, FACT, "The port is endless to ships.")
    assert (result.label, getattr(result, "code", "")) == ("", JudgeError.code)


def test_a_model_differs_by_any_of_its_files(tmp_path: Path) -> None:
    swapped = {"0": "entailment", "1": "contradiction", "2": "neutral"}
    models = (make_model(tmp_path / "a" / "m"), make_model(tmp_path / "b" / "m", swapped))
    assert len({str(FactCoverage(model).judge_signature) for model in models}) == 2


def test_a_score_names_the_model_and_its_digest(model: str) -> None:
    with FactCoverage(f"cascade({model}, local)", cache=False) as scorer:
        report = scorer.score("The harbour is closed. Rain fell.", "The harbour is closed.")
        assert (report.score, [one.fact.text for one in report.dropped]) == (0.5, ["Rain fell."])
    with FactCoverage(model, cache=False) as scorer:
        judge = dict(scorer.judge_signature.entries)["judge"]
    assert re.fullmatch("nli:model@[0-9a-f]{8}", judge)  # the same in every folder


def test_what_is_wrong_with_a_model_is_said_in_one_line(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise OSError("no connection")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    folder = Path(model.removeprefix("nli:"))
    unnamed = make_model(tmp_path / "unnamed", {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"})
    wrong = {
        "nli:": "unknown judge",
        "nli:owner/name": "cannot be downloaded from Hugging Face: no connection",
        f"nli:{tmp_path}/none": "there is no such folder",
        f"nli:{tmp_path}": "lacks config.json and tokenizer.json and model.onnx",
        unnamed: "must be 'entailment', and",
        make_model(tmp_path / "one", {"0": "entailment"}): "must be 'entailment', and",
        make_model(tmp_path / "gap", {**LABELS, "7": "x"}): "cannot be loaded: KeyError",
        make_model(tmp_path / "more", {**LABELS, "3": "x"}): "odds of shape \\(3,\\)",
    }
    for spec, message in wrong.items():
        with pytest.raises(ConfigError, match=message):
            FactCoverage(spec)
    for name in ("onnx/model.onnx", "tokenizer.json", "config.json"):
        (folder / name).write_text("no", "utf-8")
        nli._load.cache_clear()
        with pytest.raises(ConfigError, match="cannot be loaded") as raised:
            FactCoverage(model)
        assert "\n" not in str(raised.value)


def with_weights_beside(model: str, values: Any, name: str = "rows.bin") -> None:
    """Keep the table of a model in a file of its own, as large models do, with these values."""
    network = Path(model.removeprefix("nli:")) / "onnx" / "model.onnx"
    loaded = onnx.load(str(network))
    table = next(one for one in loaded.graph.initializer if one.name == "table")
    table.CopyFrom(numpy_helper.from_array(np.array(values, np.float32), "table"))
    onnx.save(loaded, str(network), save_as_external_data=True, location=name, size_threshold=64)


@pytest.mark.parametrize("name", ["rows.bin", "model.onnx.data", f"{'w' * 150}.bin"])
def test_weights_in_a_file_of_any_name_are_part_of_the_digest(tmp_path: Path, name: str) -> None:
    found = []
    for room, factor in (("a", 1), ("b", 1), ("c", -1)):
        model = make_model(tmp_path / room / "m")
        rows = [[factor * number for number in row] for row in WORDS.values()]
        with_weights_beside(model, np.nan_to_num(rows, posinf=99, neginf=-99), name)
        label = check(model, FACT, f"Rain fell. {DENIAL}").label
        found.append((label, str(FactCoverage(model).judge_signature)))
    assert found[0] == found[1]
    assert found[1][0] != found[2][0]
    assert found[1][1] != found[2][1]


def endless(folder: Path) -> str:
    """A model with a loop whose condition is always true."""
    model = make_model(folder)
    network = folder / "onnx" / "model.onnx"
    loaded = onnx.load(str(network))
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", [one], [f"{one}_out"]) for one in ("go", "held")],
        "body",
        [value("at", TensorProto.INT64, []), value("go", TensorProto.BOOL, []),
         value("held", TensorProto.FLOAT, [1, 3])],
        [value("go_out", TensorProto.BOOL, []), value("held_out", TensorProto.FLOAT, [1, 3])],
    )  # fmt: skip
    loaded.graph.node[-1].output[0] = "sum"
    true = numpy_helper.from_array(np.array(True), "true")
    loaded.graph.initializer.append(true)
    loaded.graph.node.append(helper.make_node("Loop", ["", "true", "sum"], ["logits"], body=body))
    onnx.checker.check_model(loaded)
    onnx.save(loaded, str(network))
    return model


def test_a_model_that_never_answers_or_panics_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has a Loop, which may never end"):
        FactCoverage(endless(tmp_path / "endless"))
    panics = make_model(tmp_path / "panics")
    file = tmp_path / "panics" / "tokenizer.json"
    tokenizer = json.loads(file.read_text("utf-8"))
    tokenizer["post_processor"]["special_tokens"] = {}
    file.write_text(json.dumps(tokenizer), "utf-8")
    with pytest.raises(ConfigError, match=r"cannot be loaded: .*PanicException"):
        FactCoverage(panics)


def test_a_tokenizer_that_panics_later_leaves_the_fact_undecided(model: str) -> None:
    class PanicException(BaseException):
        pass

    class Panicking:
        def encode(self, *_: str) -> Any:
            raise PanicException("index out of bounds")

    scorer = FactCoverage(model, cache=False)
    nli._load(model.removeprefix("nli:"))._tokenizer = Panicking()
    (result,) = scorer.check([AtomicFact("f1", FACT)], "Rain fell.")
    assert isinstance(result, CheckFailure)
    assert result.message == "the tokenizer failed: PanicException: index out of bounds"


SENTENCES = (
    "The harbour of Lund was closed in 2019.", "Boats came.", "Nobody was hurt when it fell.",
    "The ferry was late again on Monday.", "Boats left.", "", "\U0001f600", "東京",
    "\ud800 ?", "a" * 5_000,
)  # fmt: skip
PAIRS = (
    ("Boats came.", "The harbour of Lund was closed in 2019. Boats came."),
    ("Boats left.", "The harbour of Lund was closed in 2019. Boats came."),
    ("The ferry was late.", "The boat arrived an hour behind schedule."),
    ("not " * 500, "word " * 500),
    ("", ""),
)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("reader.npz", lambda path: path.write_bytes(path.read_bytes() + b"\0")),
        ("reader.onnx", lambda path: path.write_bytes(b"")),
        ("reader.onnx", Path.unlink),
        ("tokenizer.json", lambda path: path.write_text(path.read_text("utf-8") + " ", "utf-8")),
        ("tokenizer.json", lambda path: path.with_name("SHA256SUMS").write_text("", "utf-8")),
    ],
)
def test_weights_that_were_damaged_or_replaced_are_not_used(
    name: str, change: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature would still be that of the others."""
    copy = shutil.copytree(str(encoder._WEIGHTS), tmp_path / "weights")
    monkeypatch.setattr(encoder, "_WEIGHTS", copy)
    change(copy / name)
    loads: Any = encoder._tokenizer if name == "tokenizer.json" else encoder.load_reader
    with pytest.raises(ConfigError, match=f"the weights {name} of the embedded judge .*reinstall"):
        loads.__wrapped__()


@pytest.mark.parametrize("name", ["syntax.npz", "syntax.onnx"])
def test_a_parser_that_was_replaced_is_not_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "text"
    shutil.copytree(str(files("factcheck.text")), copy)
    monkeypatch.setattr("importlib.resources.files", lambda _: copy)
    (copy / name).write_bytes((copy / name).read_bytes() + b"\0")
    with pytest.raises(ConfigError, match=f"the weights {name} of the embedded judge were damaged"):
        syntax._network.__wrapped__()


def test_a_vector_depends_on_its_own_sentence_only() -> None:
    fresh = encode.__wrapped__
    with ThreadPoolExecutor(4) as pool:
        for sentence, reading in zip(SENTENCES * 8, pool.map(fresh, SENTENCES * 8), strict=True):
            assert np.array_equal(reading.vectors, encode(sentence).vectors)
            assert len(reading.spans) == len(reading.vectors)


def test_weights_may_be_freed_once_a_network_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays are given to onnxruntime by their address; it must have copied them."""
    given: list[Any] = []
    original = onnxruntime.OrtValue.ortvalue_from_numpy

    def record(array: Any) -> Any:
        given.append(array)
        return original(array)

    monkeypatch.setattr(onnxruntime.OrtValue, "ortvalue_from_numpy", record)
    known, fresh = encode("Boats."), encoder.load_encoder.__wrapped__()  # type: ignore[attr-defined]
    for array in given:
        array[...] = 0

    monkeypatch.setattr(encoder, "load_encoder", lambda: fresh)
    assert given
    assert np.array_equal(known.vectors, encode.__wrapped__("Boats.").vectors)


def test_an_opinion_depends_on_its_own_pair_only() -> None:
    opinions = [judge(*pair) for pair in PAIRS]
    judge.cache_clear()
    assert [judge(*pair) for pair in PAIRS[::-1]] == opinions[::-1]
    assert opinions[0].entailed > 0 > opinions[1].entailed
