"""How the embedded pair judge reads values, what it says about them, and what it promises."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from factcheck.judges.local.model import Model
from factcheck.judges.local.pairs import DECISION, LocalPairJudge, compare_values, normal, texts
from factcheck.judges.local.pairs.judge import alternatives, read_list, read_value
from factcheck.judges.local.pairs.normal import VAGUE, read_dates, tidy
from factcheck.judges.local.pairs.reading import read
from factcheck.judges.local.pairs.texts import load_pair_model, probability_by
from factcheck.judges.ports import LOW, Ledger, PairJudge, PairVerdict, Specificity, ValuePair
from tests.processes import printed_by_python

PAIRS: dict[str, list[tuple[str, str]]] = {}
for row in (Path(__file__).parent / "values.jsonl").read_text("utf-8").splitlines():
    kind, _, *values = json.loads(row)
    PAIRS.setdefault(kind, []).append((values[0], values[1]))
SAME, DIFFERENT = PAIRS["same"], PAIRS["different"]
SPECIFICITIES: tuple[Specificity, ...] = ("exact", "allow_more_specific", "allow_less_specific")


def verdict(gold: str, extracted: str, specificity: Specificity = "exact") -> PairVerdict:
    return compare_values(ValuePair(gold, extracted, specificity=specificity))


def probability(gold: str, extracted: str, specificity: Specificity = "exact") -> float:
    likely = verdict(gold, extracted, specificity).probability
    assert likely is not None
    return likely


@pytest.mark.xfail(strict=True, reason="neither rules nor networks know these")
@pytest.mark.parametrize(
    ("gold", "extracted"), [("William Clinton", "Bill Clinton"), ("Xi Jinping", "Jinping Xi")]
)
def test_short_names_and_names_in_another_order_are_known(gold: str, extracted: str) -> None:
    assert verdict(gold, extracted).equivalent


@pytest.mark.parametrize(("gold", "extracted"), SAME)
def test_values_that_differ_in_form_are_equivalent(gold: str, extracted: str) -> None:
    for specificity in SPECIFICITIES:
        found = verdict(gold, extracted, specificity)
        assert found.equivalent, found
        assert found.reason


@pytest.mark.parametrize(("gold", "extracted"), DIFFERENT)
def test_values_that_differ_in_meaning_are_not(gold: str, extracted: str) -> None:
    assert not verdict(gold, extracted).equivalent
    assert not verdict(extracted, gold).equivalent


@pytest.mark.parametrize(("gold", "extracted"), PAIRS["certainly different"])
def test_a_fact_that_differs_is_certain(gold: str, extracted: str) -> None:
    """A number, date, unit or negation: nothing a second judge could make good."""
    assert probability(gold, extracted) <= LOW < DECISION


@pytest.mark.parametrize(("gold", "extracted"), PAIRS["unlike"])
def test_words_that_differ_are_no_certain_difference(gold: str, extracted: str) -> None:
    """They have none in common, so they are not equivalent, for all this judge knows."""
    assert LOW < probability(gold, extracted) < DECISION


@pytest.mark.parametrize(
    ("gold", "extracted", "reason"),
    [
        ("Paris", "Paris", "identical"),
        ("Paris", "PARIS!", "same after normalisation"),
        ("wonder bra", "wonderbra", "same letters"),
        ("3 May 2021", "2021-05-03", "same date or time"),
        (
            "03/05/2021",
            "3 May 2021",
            "03/05/2021 against 3 May 2021: which is day and which is month is open",
        ),
        ("5 km", "5000 m", "same quantity"),
        ("\u00b5g", "ug", "same meaning"),
        ("type 2 diabetes", "No type 2 diabetes", "denied in extracted only: No type 2 diabetes"),
        ("yes", "nein", "yes against nein"),
        ("red, green", "green; red", "same items"),
        ("Engineer", "Senior Engineer", "only in extracted: Senior"),
        ("Serena Williams", "Venus Williams", "Serena against Venus"),
        ("cat", "dog", "no word in common"),
        ("Paris", "The capital is Paris.", "gold stands in extracted"),
        (
            "To be paid within 14 days",
            "To be paid no later than 14 days after delivery",
            "only in extracted: delivery",
        ),
        (
            "Call before delivery",
            "Call after delivery",
            "Call before delivery against Call after delivery",
        ),
        ("Q1 2024", "Q2 2024", "Q1 2024 against Q2 2024"),
        ("3/4 cup", "2 cups", "3/4 cup against 2"),
        ("x", "", "no value in extracted"),
        ("-5 °C", "5 °C", "-5 °C against 5 °C"),
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', "b: 2 against b: 3"),
    ],
)
def test_the_reason_says_what_the_verdict_rests_on(gold: str, extracted: str, reason: str) -> None:
    assert verdict(gold, extracted).reason == reason


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("car", "red car"), ("Engineer", "Senior Engineer"), ("2021", "3 May 2021"),
        ("red, green", "red, green, blue"), ('["a"]', '["b", "a"]'),
        ('{"a": 1}', '{"b": 2, "a": 1}'), ("Apollo", "Apollo 11"),
        ("pain", "severe pain in the left knee"),
        ("The crane fell.", "The crane fell because a cable snapped."),
    ],
)  # fmt: skip
def test_what_says_more_is_equivalent_only_where_it_may(gold: str, extracted: str) -> None:
    assert not verdict(gold, extracted).equivalent
    assert verdict(gold, extracted, "allow_more_specific").equivalent
    assert not verdict(gold, extracted, "allow_less_specific").equivalent
    assert verdict(extracted, gold, "allow_less_specific").equivalent


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("heart", "heart attack"), ("York", "New York"), ("President", "Vice President"),
        ("employee", "former employee"), ("smoker", "non-smoker"), ("Apollo 11", "Apollo 12"),
        ("50 %", "50 % or more"), ("C", "C++"),
        ("Berlin", "Berlin is not the capital of France"),
        ("Liability is limited to fees.", "Liability is unlimited to fees of a year."),
    ],
)  # fmt: skip
def test_another_thing_is_not_a_more_specific_one(gold: str, extracted: str) -> None:
    assert not verdict(gold, extracted, "allow_more_specific").equivalent


SCRAPS = ("a", "b", "5", "5th", "kg", "not", "the", "A", "/", ",", "( )", "II", "2021", "May", "€")
VALUES = st.one_of(
    st.sampled_from([text for pair in SAME + DIFFERENT for text in pair]),
    st.text(max_size=40),
    st.lists(st.text(max_size=8), max_size=4).map(json.dumps),
    st.lists(st.sampled_from(SCRAPS), max_size=7).map(" ".join),
)


@given(VALUES, VALUES)
@example("Q1 Ronald III 3 Wien", "III 3 Q1 Wien Ronald")
@example("AA/", ":I")
@example("USD 1,000 May 2 => or", "=> or May 1,000 USD 2")
@example("9 5, 5th D.C.", "5, 5th 9 D.C.")
@example("", "\u00af")
def test_leeway_has_a_mirror_image_and_only_ever_adds(gold: str, extracted: str) -> None:
    """Swapped values with the opposite leeway give the same; leeway never lowers a probability."""
    assume(len(alternatives(gold)) == len(alternatives(extracted)) == 1)
    exact = probability(gold, extracted)
    more = probability(gold, extracted, "allow_more_specific")
    assert probability(extracted, gold) == exact
    assert probability(extracted, gold, "allow_less_specific") == more >= exact


@given(VALUES, VALUES)
def test_any_two_values_have_one_verdict_and_a_value_is_itself(gold: str, extracted: str) -> None:
    found = verdict(gold, extracted)
    assert 0.0 <= probability(gold, extracted) <= 1.0
    assert found.equivalent == (probability(gold, extracted) >= DECISION)
    assert "\n" not in found.reason
    assert verdict(gold, extracted) == found
    assert probability(gold, gold) == 1.0


def test_every_process_gives_the_same_verdicts() -> None:
    pairs = SAME + DIFFERENT
    code = (
        "from factcheck.judges.local.pairs import compare_values\n"
        "from factcheck.judges.ports import ValuePair\n"
        f"print([compare_values(ValuePair(*pair)) for pair in {pairs!r}])"
    )

    here = str([verdict(*pair) for pair in pairs])
    assert printed_by_python(code, PYTHONHASHSEED="1") == here


@pytest.mark.parametrize(
    "value",
    ["\x00", "\ud800", "\u200b", "(" * 5_000, "[" * 50_000, "1" * 50_000, " " * 50_000 + "x"],
)
def test_no_string_is_too_odd(value: str) -> None:
    found = verdict(value, "Paris")
    assert not found.equivalent
    assert found.reason.isprintable()


def test_a_long_list_is_met_in_any_order() -> None:
    items = [f"item {number}" for number in range(2_000)]
    shuffled = random.Random(1).sample(items, len(items))
    assert verdict(json.dumps(items), json.dumps(shuffled)).equivalent
    assert not verdict(json.dumps(items), json.dumps([*shuffled[:-1], "another"])).equivalent


def test_what_is_not_compared_is_said() -> None:
    """Of long lists with nothing in common, only some items are compared each with each."""
    gold, extracted = (json.dumps([f"{name} {n}" for n in range(300)]) for name in ("ab", "cd"))
    assert "compared with each other" in verdict(gold, extracted).reason


def test_long_records_and_alternatives_in_another_notation_are_the_same() -> None:
    gold = [{"name": f"Item {n}", "price": n} for n in range(40)]
    extracted = [{"price": f"{n}.00", "name": f"item {n}"} for n in range(40)]
    assert verdict(json.dumps(gold), json.dumps(extracted)).equivalent
    many = " / ".join(f"name {number}" for number in range(3_000))
    assert verdict(many, "Name 2999").equivalent
    assert verdict(many, "NAME 7 / Name 8").equivalent
    assert not verdict(many, many.replace("name", "value") + " / NAME 7").equivalent


def test_each_alternative_that_is_extracted_counts() -> None:
    for gold, extracted in (("5 mg", "5 mg / 10 mg"), ("yes", "yes / no"), ("red", "red / blue")):
        assert not verdict(gold, extracted, "allow_more_specific").equivalent
        assert verdict(extracted, gold).equivalent
    assert verdict("New York City / NYC", "NYC / new york city").equivalent


def test_the_judge_fulfils_its_port_costs_nothing_and_reads_the_values_only() -> None:
    judge, ledger = LocalPairJudge(), Ledger()
    pairs = [ValuePair("1.2 km", "1200 m"), ValuePair("Engineer", "Senior Engineer")]
    told = [replace(pair, path="job", description="Senior", instructions="No.") for pair in pairs]
    assert isinstance(judge, PairJudge)
    assert asyncio.run(judge.compare(told, ledger)) == tuple(map(compare_values, pairs))
    assert ledger.usage.calls == 0
    assert judge.identity["judge"].startswith("local/21@")


def test_values_of_any_length_are_compared() -> None:
    long = "The pump was inspected on day one and found to be sound. " * 2_000
    assert verdict(long, long.upper()).equivalent
    assert not verdict(long, long + " It failed on 3 May.").equivalent
    assert not verdict(long, "a short value").equivalent
    assert verdict("word " * 200_000, "WORD " * 200_000).equivalent
    assert not verdict("1" * 1_000_000, "1" * 999_999 + "2").equivalent
    assert verdict("ok " * 60, "ok " * 59).reason  # more equal units than are looked at


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ("5 km", "5000 m"), ("28", "82"), ("guilty", "not guilty"), ("PO-118", "PO-118C"),
        ("Engineer", "Senior Engineer"), ("Dr. Anna Berg", "Anna Berg"), ("a, b and c", "c; a; b"),
        ("tenant pays landlord", "landlord pays tenant"), ("das Auto ist rot", "der Zug ist da"),
        ("red " * 200, "blue " * 200),
    ],
)  # fmt: skip
def test_the_networks_are_not_loaded_where_the_rules_decide(
    gold: str, extracted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: str) -> None:
        raise AssertionError

    monkeypatch.setattr(texts, "judge", forbidden)
    verdict(gold, extracted)


def test_it_agrees_with_people_on_the_development_data(data_dir: Path) -> None:
    """Balanced accuracy on 40 of the answers; `benchmarks/pairs` takes all of them."""
    decided: dict[bool, list[bool]] = {True: [], False: []}
    for line in (data_dir / "answer_equiv_dev.jsonl").read_text("utf-8").splitlines()[::15]:
        row = json.loads(line)
        label = bool(row["label"])
        decided[label].append(
            verdict(row["premise"].replace("/", " / "), row["hypothesis"]).equivalent == label
        )
    shares = [sum(right) / len(right) for right in decided.values()]
    assert sum(shares) / 2 >= 0.93


@pytest.mark.parametrize(
    ("specificity", "probability"),
    [("exact", VAGUE), ("allow_more_specific", normal.SAME), ("allow_less_specific", VAGUE)],
)
def test_a_bare_number_only_says_less_than_a_measured_one(
    specificity: Specificity, probability: float
) -> None:
    found = compare_values(ValuePair("40", "40 lb", specificity=specificity))
    assert found.probability == probability


@pytest.mark.parametrize(
    ("text", "optional"), [("about 5 km", ["about"]), ("(film)", []), ("Doctor", [])]
)
def test_some_units_are_optional_where_others_are_left(text: str, optional: list[str]) -> None:
    units = read(tidy(text), "en").units
    assert [unit.text for unit in units if unit.is_optional] == optional


@pytest.mark.parametrize("text", ["", "Paris", "May I?", "13/13/2021", "3 apples", "1:2:3"])
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert read_dates(text) == ()


def test_what_is_no_list_and_has_no_alternatives_is_whole() -> None:
    clauses = "When at last the long rain of that year ended, they went out to see the river"
    assert [read_list(text) for text in (clauses, "1,200 m", "")] == [()] * 3
    assert read_list("- apples\r\n- pears") == ("apples", "pears")
    assert all(alternatives(text) == (text,) for text in ("N / A", "AC/DC", ""))
    assert [unit.text for unit in read("1 200 000", "en").units] == ["1200000"]


def test_json_is_read_as_written() -> None:
    assert read_value('["a", 1.50, true, null]') == ("a", "1.50", "true", "null")
    assert read_value('{"b": {"d": 1, "c": [2, 3]}, "a": "x"}') == ("a: x", "b: c: 2, 3, d: 1")
    assert read_value("[1, 2") == "[1, 2"
    assert read_value("[see above]") == "[see above]"
    assert read_value('"quoted"') == '"quoted"'
    deep = "[" * 100 + "]" * 100
    assert read_value(deep) == deep


def test_deep_structures_are_compared_too() -> None:
    def same(one: str, other: str) -> bool:
        gold, extracted = (json.dumps({"a": [{"b": [{"c": [leaf]}]}]}) for leaf in (one, other))
        return compare_values(ValuePair(gold, extracted)).equivalent

    assert same("Red", "red")
    assert not same("5 red", "6 red")


def test_what_the_networks_read_counts_in_one_direction() -> None:
    model = load_pair_model()
    assert model.probability([-2.0, -1.0, 0.0]) < model.probability([1.0, 1.0, 0.0])
    assert model.probability([0.0, 0.0, 2.0]) < model.probability([0.0, 0.0, 0.0])


def test_a_hopeless_pair_has_no_overflow() -> None:
    assert probability_by(Model(-1e6, (0.0,), ""), [1.0]) == 0.06
    assert probability_by(Model(1e6, (0.0,), ""), [1.0]) == 1.0
