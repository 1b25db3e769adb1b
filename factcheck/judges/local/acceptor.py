"""Chooses among the propositions of a sentence those that a person would write down.

A logistic regression on what a proposition looks like, fitted by `benchmarks/decomposition/fit.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import inf

from factcheck.judges.local.propositions import Proposition, Propositions
from factcheck.judges.local.roles import BE, COMPLEMENTS
from factcheck.judges.local.tree import BRACKET, FINITE, NOUNS, SUBJECTS
from factcheck.text.words import word_set

_UNENDED = frozenset({"CC", "DT", "IN", "TO", "PRP$", "WDT", "POS"})
_GOOD, _LIKELY = 0.0, -0.85
"""Log odds of a probability of .5 and .3."""
_EMPTY = word_set("come comes came happened happens do does did told said heard")
_SAID = word_set("said says stated states claimed claims argued argues")
_MEASURES = word_set("npadvmod advmod aux")
_AROUND = _MEASURES | {"prep", "advcl"}
_TALES = word_set("lie lies story stories joke jokes truth tale tales time fortune")
_ANSWERS = word_set("yes no so")
_ALIKE = {("VB", "VB"), ("VBG", "VBG"), ("NN", "VBG"), ("NNS", "VBG")}
_RELATIVE = ("Who ", "Whose ", "Whom ", "Which ")
_NO_WORDS: frozenset[int] = frozenset()
_MOST_LOST = 0.6
"""Share of the nouns and numbers of a sentence that may be in none of its facts."""
_UNSEEN = -6.0
_SHORT = 3
"""Words."""


def accept(
    tree: Propositions, found: Sequence[Proposition], texts: Sequence[str], *, whole: bool = True
) -> list[bool]:
    """Tell which propositions to keep, given their texts.

    Those that are good in all likelihood are kept, and of the others those that state what no other
    does. Of a `whole` sentence none are kept if that leaves its verb out, or too much of the rest.
    """
    odds = [_odds(values) for values in features(tree, found, texts)]
    content = {i for i, token in enumerate(tree.tokens) if token.tag in NOUNS | {"CD"}}
    kept = [each >= _GOOD for each in odds]
    told = _NO_WORDS.union(
        *(words_of(each) for each, keep in zip(found, kept, strict=True) if keep)
    )
    for at in sorted(range(len(found)), key=lambda at: -odds[at]):
        words = words_of(found[at])
        if not kept[at] and odds[at] >= _LIKELY and not content & words <= told:
            kept[at] = True
            told |= words
    is_lost = len(content - told) > _MOST_LOST * len(content)
    has_verb = bool(tree.tokens) and tree.tokens[tree.root].tag[0] in "VM"
    is_lost |= whole and has_verb and tree.root not in told
    return [False] * len(found) if is_lost else kept


def _odds(values: Mapping[str, float]) -> float:
    if "unfit" in values:
        return -inf
    weights = load_weights()["weights"]
    return sum(weights.get(name, 0.0) * value for name, value in values.items())


@cache
def load_weights() -> Mapping[str, Mapping[str, float]]:
    """Return the `weights` of features, and how likely parts of speech are `joined`.

    The latter are log probabilities of the second of a pair, `NN VBD`, behind the first.
    """
    stored: dict[str, dict[str, float]] = json.loads(
        (files(__package__) / "acceptor.json").read_text("utf-8")
    )
    return stored


def features(
    tree: Propositions, found: Sequence[Proposition], texts: Sequence[str]
) -> list[dict[str, float]]:
    """Return what each proposition looks like; only features other than 0."""
    with_details = {each.core for each in found}
    covered = [words_of(each) for each in found]
    described = []
    for number, (each, words, text) in enumerate(zip(found, covered, texts, strict=True)):
        values: dict[str, float | bool] = {
            "": 1.0,
            f"kind {each.kind}": 1.0,
            "core": number in with_details,
            "short": len(text.split()) <= _SHORT,
            "share": len(words) / len(tree.tokens),
            "unsure": 1 - min(tree.tokens[i].sure for i in words),
            "torn": each.head in tree.torn or not tree.torn.isdisjoint(words),
            "unfit": _is_open(tree, _last(each))
            or (each.head == _last(each) and tree.low[each.head] in BE)
            or text.startswith(_RELATIVE)
            or (_is_own(each) and _is_empty(tree, each.head, words))
            or (_is_own(each) and _is_participle(tree, each.head, words))
            or _is_parted(tree, words)
            or _has_base_form(tree, each.head, words)
            or not tree.garbled.isdisjoint(words),
            "joint": _joint(tree, sorted(words)),
            "like another": any(words < other for other in covered),
        }
        described.append({name: float(value) for name, value in values.items() if value})
    return described


def _is_participle(tree: Propositions, verb: int, words: frozenset[int]) -> bool:
    """Tell whether no verb has a tense: `The mill closing in May`."""
    return tree.tokens[verb].tag == "VBG" and all(tree.tokens[i].tag not in FINITE for i in words)


def _last(each: Proposition) -> int:
    """Return the last word of the sentence in the text of a proposition."""
    return max(next(part for part in reversed(each.segments) if part and not isinstance(part, str)))


def _is_parted(tree: Propositions, words: frozenset[int]) -> bool:
    """Tell whether what is joined to a noun stands beside it without its `and` or comma.

    `By Anna Kern in May and Tom Orr` without `in May and`.
    """
    for place in words:
        token = tree.tokens[place]
        is_joined = token.relation in ("conj", "appos") and token.head in words
        tags = (tree.tokens[token.head].tag, token.tag)
        if not is_joined or not (token.tag in NOUNS or tags in _ALIKE):
            continue
        others = [i for i in tree.of(token.head, "conj") if i > place]
        if token.relation == "appos" and others and words.isdisjoint(others):
            return True  # `fever, a cold` of `fever, a cold and a wound`
        start = min((i for i in tree.under(place) if i in words), default=place)
        before = max((i for i in words if i < start), default=start - 1)
        lost = [i for i in range(before + 1, start) if not tree.is_mark[i]]
        is_linked = any(
            tree.tokens[i].relation == "cc" and i not in lost for i in range(token.head, start)
        )
        if not is_linked and any(tree.tokens[i].relation not in ("cc", BRACKET) for i in lost):
            return True
    return False


def _has_base_form(tree: Propositions, verb: int, words: frozenset[int]) -> bool:
    """Tell whether one thing has a verb in its base form: `The aim compare changes`."""
    subject = tree.subject(tree.main(verb))
    is_bare = tree.tokens[verb].tag == "VB" and words.isdisjoint(tree.of(verb, "aux"))
    is_told = (
        verb in words and subject in words and not any(tree.tokens[i].tag == "MD" for i in words)
    )
    if not (is_bare and is_told) or subject is None or min(words) != tree.start(subject):
        return False
    verbs = [i for i in words if subject < i < verb and tree.tokens[i].tag[0] == "V"]
    return not verbs and not tree.is_plural(subject) and not tree.of(subject, "conj")


def _is_open(tree: Propositions, last: int) -> bool:
    """Tell whether a last word wants the one behind it in the sentence."""
    token = tree.tokens[last]
    is_link = token.tag in _UNENDED and token.relation not in ("prt", "advmod")
    is_cut = not all(tree.is_mark[last + 1 : last + 2])
    return (is_link and is_cut) or token.text.lower() == "aged"


def _is_empty(tree: Propositions, verb: int, words: frozenset[int]) -> bool:
    """Tell whether nothing is said of something: `The ruling came`, `It was, ironically`."""
    is_aim = tree.tokens[verb].relation == "conj" and tree.tokens[verb].tag == "VB"
    is_aim &= any(i in words and tree.low[i] == "to" for i in tree.of(verb, "aux"))
    if is_aim or not any(tree.tokens[i].tag[0] in "VM" for i in words):
        return True
    last = max(words)
    objects = tree.of(verb, "dobj")
    beside = {tree.tokens[i].relation for i in tree.kids[verb] if i in words} - SUBJECTS
    is_told = tree.low[verb] in ("told", "tells") and "dobj" in beside <= {"dobj", *_MEASURES}
    clauses = [k for i in objects for k in tree.of(i, "relcl", "acl", "ccomp")]
    is_told &= words.isdisjoint(clauses)
    if is_told and _TALES.isdisjoint(tree.low[i] for i in objects):
        return True  # `told a court`
    if (
        tree.low[verb] in _SAID
        and beside <= _AROUND
        and not _ANSWERS & {tree.low[i] for i in words}
    ):
        return True  # `said in a statement`
    is_remark = tree.tokens[last].relation == "advmod" and tree.low[last].endswith("ly")
    is_lacking = tree.low[verb] in ("is", "are", "was", "were") and is_remark
    has_complement = any(i in words for i in tree.of(verb, *COMPLEMENTS, "prep"))
    return (tree.low[verb] in _EMPTY and verb == last) or (is_lacking and not has_complement)


def _joint(tree: Propositions, words: Sequence[int]) -> float:
    """Return how likely the least likely neighbours are that the sentence parts."""
    tags = [token.tag for token in tree.tokens]
    pairs = [f"{tags[a]} {tags[b]}" for a, b in pairwise(words) if b - a > 1]
    return min((load_weights()["joined"].get(pair, _UNSEEN) for pair in pairs), default=0.0)


def _is_own(each: Proposition) -> bool:
    """Tell whether a proposition has no words but those of the sentence."""
    return not any(isinstance(part, str) for part in each.segments)


def words_of(each: Proposition) -> frozenset[int]:
    """Return the words of the sentence that a proposition has."""
    return frozenset[int]().union(*(part for part in each.segments if not isinstance(part, str)))
