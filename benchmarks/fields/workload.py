"""The records of this study: generated invoices, and extractions of them that went wrong in places.

Everything comes from a seed and the number of the record, so any part of it can be made again,
one record at a time. An invoice has 30 schema leaves and about 97 values: 23 in its head, and ten
line items with taxes of their own. In the extraction, 8 % of the values are changed, dropped or
have an extra one beside them; a line item is missing or there twice now and then, and in every
second record the items stand in another order.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

from factcheck.fields import annotate_xeval

Record = dict[str, Any]
Pair = tuple[Record, Record]

N_ITEMS = 10
CORRUPTED = 0.08
"""Of the values of an invoice."""
ALIGNMENTS: dict[str, dict[str, Any]] = {
    "ordered": {"ordered": True},
    "by key": {"match_by": "key_field", "key": "sku"},
    "Hungarian": {"match_by": "hungarian"},
}
SEMANTIC = "bench_semantic"
_WRONG = 0.2
"""The name under which a batch comparator has to be registered."""
N_SEMANTIC = 12
"""Fields of a record that a judge is asked about."""

_TEXT: Record = {"type": "string"}
_NUMBER: Record = {"type": "number"}
_CENTS: Record = {"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"abs": 0.005}}}}
_WORDING: Record = {"type": "string", "x-eval-transform": ["strip", "lowercase"]}
# fmt: off
_WORDS = (
    "alder", "beam", "bolt", "cable", "crate", "drum", "filter", "flange", "gasket", "hinge",
    "hose", "joint", "lamp", "lever", "motor", "panel", "pipe", "plate", "pump", "relay",
    "rivet", "rod", "screw", "seal", "shaft", "sheet", "spring", "switch", "tube", "valve",
)
# fmt: on


def _object(**properties: Record) -> Record:
    return {"type": "object", "properties": properties}


def _array(items: Record, **align: Any) -> Record:
    return {"type": "array", "items": items, **({"x-eval-align": align} if align else {})}


def _annotated(**properties: Record) -> Record:
    schema = copy.deepcopy(_object(**properties))  # parts of it are shared
    annotate_xeval(schema)
    return schema


def _party(last: str) -> Record:
    names = ("name", "street", "city", "postcode", "country", last)
    return _object(**dict.fromkeys(names, _TEXT))


_TAX = _object(code=_TEXT, amount=_CENTS)
_PLAIN_ITEM = {"sku": _TEXT, "description": _WORDING, "quantity": {"type": "integer"}}
_ITEM = _object(**_PLAIN_ITEM, unit_price=_CENTS, amount=_CENTS, taxes=_array(_TAX))


def invoice_schema(alignment: str) -> Record:
    """The schema of an invoice whose line items are aligned in this way."""
    head = dict.fromkeys(("number", "issued", "due", "currency", "order"), _TEXT)
    return _annotated(
        **head,
        paid={"type": "boolean"},
        seller=_party("vat_id"),
        buyer=_party("contact"),
        payment=_object(iban=_TEXT, days={"type": "integer"}),
        net=_CENTS,
        tax=_CENTS,
        total=_CENTS,
        items=_array(_ITEM, **ALIGNMENTS[alignment]),
    )


def invoices(count: int, seed: int = 1) -> Iterator[Pair]:
    """So many invoices, each with what was extracted from it."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")  # noqa: S311 - nothing secret
        gold = _invoice(rng, number)
        extracted = _corrupted(rng, gold)
        items = extracted.get("items", [])
        if rng.random() < CORRUPTED and items:
            items.pop(rng.randrange(len(items)))
        if rng.random() < CORRUPTED and items:
            items.append(_corrupted(rng, rng.choice(items)))
        if number % 2:
            rng.shuffle(items)
        yield gold, extracted


def array_schema(*, nested: bool) -> Record:
    """One array aligned by Hungarian: four fields an element, or the line items of an invoice."""
    items = _ITEM if nested else _object(**_PLAIN_ITEM, unit_price=_NUMBER)
    return _annotated(items=_array(items, **ALIGNMENTS["Hungarian"]))


def long_array(count: int, *, nested: bool, seed: int = 1) -> Pair:
    """A record that is one array of so many elements, and its extraction in another order."""
    rng = random.Random(f"{seed} array {count}")  # noqa: S311 - nothing secret
    items = [_item(rng, place) for place in range(count)]
    if not nested:
        for item in items:
            del item["amount"], item["taxes"]
    extracted = [_corrupted(rng, item) for item in items]
    rng.shuffle(extracted)
    return {"items": items}, {"items": extracted}


def semantic_schema() -> Record:
    """Twelve fields that a judge is asked about."""
    asked = {"type": "string", "x-eval-compare": SEMANTIC}
    return _object(**{f"field_{place}": asked for place in range(N_SEMANTIC)})


def semantic_records(count: int, seed: int = 1) -> Iterator[Pair]:
    """Records of which seven in ten have a fifth of their fields in other words."""
    for number in range(count):
        rng = random.Random(f"{seed} semantic {number}")  # noqa: S311 - nothing secret
        gold = {f"field_{place}": _phrase(rng, 6) for place in range(N_SEMANTIC)}
        share = 0.19 if rng.random() < 0.7 else 0.0
        extracted = {
            name: f"about {text}" if rng.random() < share else text for name, text in gold.items()
        }
        yield gold, extracted


def semantic_items_schema() -> Record:
    """Line items aligned by Hungarian, with one field that a judge is asked about."""
    items = {**_PLAIN_ITEM, "description": {"type": "string", "x-eval-compare": SEMANTIC}}
    return _annotated(items=_array(_object(**items), **ALIGNMENTS["Hungarian"]))


def semantic_items(count: int, seed: int = 1) -> Iterator[Pair]:
    """Records of ten line items, a third of them described in other words."""
    for number in range(count):
        rng = random.Random(f"{seed} items {number}")  # noqa: S311 - nothing secret
        full = [_item(rng, place) for place in range(N_ITEMS)]
        items = [{name: item[name] for name in _PLAIN_ITEM} for item in full]
        extracted = [
            {**item, "description": f"about {item['description']}"} if rng.random() < 0.3 else item
            for item in items
        ]
        rng.shuffle(extracted)
        yield {"items": items}, {"items": extracted}


def semantic_array(count: int, wrong: str, seed: int = 1) -> Pair:
    """One shuffled array of which a fifth of the elements have another code, phrase or both."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    gold = [{"sku": f"S{n:05}", "note": f"{_phrase(rng, 4)} {n}"} for n in range(count)]
    extracted = [{"sku": one["sku"], "note": f"the {one['note']}"} for one in gold]
    for n, one in enumerate(extracted):
        if rng.random() < _WRONG:
            one.update({"sku": f"X{n:05}"} if wrong != "phrases" else {})
            one.update({"note": f"other {_phrase(rng, 4)}"} if wrong != "codes" else {})
    rng.shuffle(extracted)
    return {"items": gold}, {"items": extracted}


def semantic_array_schema() -> Record:
    """An exact field beside a semantic one, aligned by Hungarian."""
    text = {"type": "string"}
    items = _object(sku=text, note={**text, "x-eval-compare": SEMANTIC})
    return _annotated(items=_array(items, match_by="hungarian"))


def _invoice(rng: random.Random, number: int) -> Record:
    items = [_item(rng, place) for place in range(N_ITEMS)]
    net = round(sum(item["amount"] for item in items), 2)
    return {
        "number": f"R-{number:06}",
        "issued": f"2025-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "due": f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "currency": rng.choice(("EUR", "CHF", "SEK")),
        "order": f"O-{rng.randint(1, 99_999)}",
        "paid": rng.random() < 0.5,
        "seller": _address(rng, "vat_id"),
        "buyer": _address(rng, "contact"),
        "payment": {"iban": f"XX{rng.randint(10**17, 10**18)}", "days": rng.choice((14, 30, 60))},
        "net": net,
        "tax": round(net * 0.2, 2),
        "total": round(net * 1.2, 2),
        "items": items,
    }


def _address(rng: random.Random, last: str) -> Record:
    return {
        "name": f"{_phrase(rng, 2)} Ltd",
        "street": f"{rng.choice(_WORDS)} street {rng.randint(1, 200)}",
        "city": f"{rng.choice(_WORDS)}ton",
        "postcode": f"{rng.randint(10_000, 99_999)}",
        "country": rng.choice(("NO", "SE", "DK", "FI")),
        last: f"{rng.choice(_WORDS)}-{rng.randint(1, 9_999)}",
    }


def _item(rng: random.Random, place: int) -> Record:
    quantity, price = rng.randint(1, 20), rng.randint(100, 99_999) / 100
    n_taxes = 2 if rng.random() < 0.2 else 1
    return {
        "sku": f"{rng.choice(_WORDS)}-{place}-{rng.randint(1, 999)}",
        "description": _phrase(rng, 4).title(),
        "quantity": quantity,
        "unit_price": price,
        "amount": round(quantity * price, 2),
        "taxes": [
            {"code": f"T{tax}", "amount": round(quantity * price * rate, 2)}
            for tax, rate in enumerate((0.2, 0.05)[:n_taxes])
        ],
    }


def _phrase(rng: random.Random, n_words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=n_words))


def _corrupted(rng: random.Random, record: Record) -> Record:
    """A copy; each of its values may be changed, dropped or have an extra one beside it."""
    made: Record = {}
    for name, value in record.items():
        if isinstance(value, dict):
            made[name] = _corrupted(rng, value)
        elif isinstance(value, list):
            made[name] = [_corrupted(rng, element) for element in value]
        else:
            fate = rng.random() / CORRUPTED
            if fate >= 0.3:  # below it, the value is dropped
                made[name] = _changed(rng, value) if fate < 0.8 else value
            if 0.8 <= fate < 1:
                made[f"{name}_2"] = value
    return made


def _changed(rng: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return f"{value} {rng.choice(_WORDS)}"
    return value + rng.randint(1, 9)
