"""The networks answer alike whatever is read beside, before, or at the same time."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

import numpy as np
import onnxruntime
import pytest

from factcheck.judges.local import encoder
from factcheck.judges.local.encoder import Encoder, judge

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


def test_the_weights_are_those_whose_digests_name_the_judge() -> None:
    room = files("factcheck.judges.local") / "weights"
    for line in (room / "SHA256SUMS").read_text("utf-8").splitlines():
        digest, name = line.split()
        assert hashlib.sha256((room / name).read_bytes()).hexdigest() == digest


def test_a_vector_depends_on_its_own_sentence_only() -> None:
    together, fresh = Encoder().read(SENTENCES), Encoder()
    for sentence, reading in zip(SENTENCES, together, strict=True):
        (other,) = fresh.read([sentence])
        assert np.array_equal(reading.vectors, other.vectors)
        assert len(reading.spans) == len(reading.vectors)
    with ThreadPoolExecutor(4) as pool:
        for readings in pool.map(lambda _: fresh.read(SENTENCES), range(8)):
            for one, other in zip(readings, together, strict=True):
                assert np.array_equal(one.vectors, other.vectors)


def test_weights_may_be_freed_once_a_network_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arrays are given to onnxruntime by their address; it must have copied them."""
    given: list[Any] = []
    original = onnxruntime.OrtValue.ortvalue_from_numpy

    def record(array: Any) -> Any:
        given.append(array)
        return original(array)

    monkeypatch.setattr(onnxruntime.OrtValue, "ortvalue_from_numpy", record)
    fresh = Encoder()
    for array in given:
        array[...] = 0

    (known,), (reading,) = encoder.load_encoder().read(["Boats."]), fresh.read(["Boats."])
    assert given
    assert np.array_equal(known.vectors, reading.vectors)


def test_an_opinion_depends_on_its_own_pair_only() -> None:
    opinions = [judge(*pair) for pair in PAIRS]
    judge.cache_clear()
    assert [judge(*pair) for pair in PAIRS[::-1]] == opinions[::-1]
    assert opinions[0].entailed > 0 > opinions[1].entailed


def test_kept_vectors_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder, "_KEPT_VECTORS", 40)
    reader = Encoder()

    for number in range(6):
        sentence = f"Kiln {number} was fired twice in the spring, and cracked in the autumn."
        first, second = reader.read([sentence, sentence])
        assert first is second is reader.read([sentence])[0]
        assert 0 < sum(len(each.vectors) for each in reader._kept.values()) <= 40
