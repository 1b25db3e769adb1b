"""English sentences taken apart into clauses that stand alone.

There is no parser here: a rule applies only where the words themselves show the structure, and a
sentence that hedges, reports, negates or quotes is left whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from factcheck.facts import Span
from factcheck.judges.local import phrases, verbs
from factcheck.judges.local.phrases import Subject, Token


class Clause(NamedTuple):
    """Tokens that make a statement, some of them possibly carried over from elsewhere."""

    tokens: tuple[Token, ...]
    own: Span
    """The passage the statement comes from, without what was carried over."""


_QUOTES = re.compile(r"[\"\u201c\u201d\u2018\u00ab\u00bb:?]|(?<!\w)'")
_MOST_TOKENS = 120
"""Longer sentences are lists or run-on text, and left whole."""
_FEWEST_NAMES = 3
_CLAUSE_OPENERS = verbs.word_set("he she they it his her its their the")
"""What opens a second clause even without a comma before `and`."""


def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """The clauses of an English sentence; the sentence itself where no split is safe."""
    tokens = phrases.tokenise(sentence)
    whole = Clause(tokens, Span(0, len(sentence)))
    if (
        len(tokens) > _MOST_TOKENS
        or _QUOTES.search(sentence)
        or sentence.count("(") != sentence.count(")")
    ):
        return (whole,)
    return _split(whole)


def _split(clause: Clause) -> tuple[Clause, ...]:
    for rule in _RULES:
        parts = rule(clause)
        if parts and all(_is_balanced(part) for part in parts):
            return tuple(piece for part in parts for piece in _split(part))
    return (clause,)


def _aside_of_the_subject(clause: Clause) -> tuple[Clause, ...]:
    """`Ann Lee, the mayor of Ulm, left.` -> `Ann Lee is the mayor of Ulm`, `Ann Lee left`."""
    tokens = clause.tokens
    opening = phrases.first_comma(tokens, 0)
    if opening is None or not phrases.is_name(tokens[: opening + 1]):
        return ()
    closing = phrases.first_comma(tokens, opening + 1)
    if closing is None or closing + 1 >= len(tokens) or closing == opening + 1:
        return ()
    subject, rest = tokens[: opening + 1], tokens[closing + 1 :]
    aside = tokens[opening + 1 : closing + 1]
    if not phrases.is_finite_verb(rest, 0) or phrases.has_word(aside, verbs.HEDGES | {"and"}):
        return ()
    own = Span(aside[0].start, aside[-1].end)
    if aside[0].core in ("who", "which"):
        if not phrases.is_finite_verb(aside, 1):
            return ()
        told = Clause(_joined(subject, aside[1:]), own)
    elif aside[0].core in ("a", "an", "the") and not phrases.has_word(aside, verbs.SUBORDINATORS):
        told = Clause(_joined(subject, (Token("is", "is", own.start, own.start), *aside)), own)
    else:
        return ()
    return (told, Clause(_joined(subject, rest), clause.own))


def _clause_at_the_end(clause: Clause) -> tuple[Clause, ...]:
    """`He married Eva Orr, who ran a mill.` -> `He married Eva Orr`, `Eva Orr ran a mill`."""
    tokens = clause.tokens
    for index in range(2, len(tokens) - 2):
        if tokens[index].core not in ("who", "which") or not tokens[index - 1].text.endswith(","):
            continue
        first = index - 1
        while (
            first > 0 and tokens[first - 1].text[0].isupper() and phrases.is_bare(tokens[first - 1])
        ):
            first -= 1
        before, name, rest = tokens[:first], tokens[first:index], tokens[index + 1 :]
        if (
            not before
            or not name[0].text[0].isupper()
            or not phrases.is_finite_verb(tokens, index + 1)
        ):
            return ()
        if (
            not phrases.is_past(before[-1].core)
            or phrases.is_guarded(tokens[:index])
            or phrases.is_guarded(rest)
        ):
            return ()
        if phrases.first_comma(rest, 0) is not None:
            return ()
        return (
            Clause(tokens[:index], _reach(tokens[:index], clause)),
            Clause(_joined(name, rest), Span(tokens[index].start, tokens[-1].end)),
        )
    return ()


def _coordinated_clauses(clause: Clause) -> tuple[Clause, ...]:
    """`It rained, and the match was moved.` -> `It rained`, `the match was moved`."""
    tokens = clause.tokens
    for index in range(2, len(tokens) - 2):
        if tokens[index].core not in ("and", "but"):
            continue
        first, second = tokens[:index], tokens[index + 1 :]
        if not first[-1].text.endswith(",") and second[0].core not in _CLAUSE_OPENERS:
            continue
        if phrases.is_guarded(first) or phrases.has_word(
            second[:1], verbs.SUBORDINATORS | verbs.HEDGES
        ):
            return ()
        if phrases.has_word(second, {"if", "unless", "or", "respectively"}):
            return ()
        subject = phrases.subject_of(second)
        if phrases.subject_of(first) is None or subject is None:
            continue
        if phrases.has_subordinate_clause(first) or phrases.lead(first) or phrases.lead(second):
            return ()
        if phrases.has_word(second[: subject.verb], {"and"}):
            continue
        if second[subject.verb].core in ("are", "were", "have") and not _is_plural(second, subject):
            return ()
        return (
            Clause(first, _reach(first, clause)),
            Clause(second, Span(second[0].start, second[-1].end)),
        )
    return ()


def _coordinated_predicates(clause: Clause) -> tuple[Clause, ...]:
    """`Ann moved to Ulm and joined the guild.` -> `Ann moved to Ulm`, `Ann joined the guild`."""
    tokens = clause.tokens
    subject = phrases.subject_of(tokens)
    if subject is None:
        return ()
    verb = tokens[subject.verb]
    for index in range(subject.verb + 2, len(tokens) - 2):
        if tokens[index].core not in ("and", "but"):
            continue
        first, second = tokens[:index], tokens[index + 1 :]
        adverbs = 0
        while adverbs < len(second) - 1 and phrases.is_adverb(second[adverbs]):
            adverbs += 1
        if not phrases.is_finite_verb(second, adverbs):
            continue
        if phrases.is_guarded(first) or phrases.has_word(
            second, verbs.HEDGES - {"not", "never", "no"}
        ):
            return ()
        if phrases.has_subordinate_clause(first[subject.verb :]) or phrases.has_verb(
            phrases.after_verb(second, adverbs)
        ):
            return ()
        if _shares_object(first) or not _can_share_subject(
            first[subject.verb :], verb.core, second[adverbs].core
        ):
            return ()
        lead = () if phrases.has_word(second[:adverbs], verbs.SEQUENCE) else tokens[: subject.start]
        carried = (*lead, *tokens[subject.start : subject.end])
        return (
            Clause(first, _reach(first, clause)),
            Clause(_joined(carried, second), Span(second[0].start, second[-1].end)),
        )
    return ()


def _listed_names(clause: Clause) -> tuple[Clause, ...]:
    """`He played for Ajax, Porto and Lille.` -> one statement for each of three or more names."""
    tokens = clause.tokens
    subject = phrases.subject_of(tokens)
    if subject is None or phrases.is_guarded(tokens) or not tokens[-1].text.endswith("."):
        return ()
    for index in range(subject.verb, len(tokens) - _FEWEST_NAMES):
        if tokens[index].core in verbs.NAME_LIST_HEADS and phrases.is_bare(tokens[index]):
            names = phrases.listed_names(tokens[index + 1 :])
            prefix = tokens[: index + 1]
            if len(names) < _FEWEST_NAMES or any(
                token.core in verbs.NUMBER_WORDS or token.core[:1].isdigit() for token in prefix
            ):
                continue
            return tuple(
                Clause(_joined(prefix, name), Span(name[0].start, name[-1].end)) for name in names
            )
    return ()


_RULES: tuple[Callable[[Clause], tuple[Clause, ...]], ...] = (
    _aside_of_the_subject,
    _clause_at_the_end,
    _coordinated_clauses,
    _coordinated_predicates,
    _listed_names,
)


def _can_share_subject(first: Sequence[Token], verb: str, second_verb: str) -> bool:
    """Whether the second verb is a predicate of its own, not a participle after an auxiliary."""
    if second_verb in verbs.AUXILIARIES:
        return True
    if second_verb in verbs.PRESENT:
        return verb in verbs.PRESENT or verb in ("is", "has")
    if verb in ("will", "can", "did", "does", "do") or verb in verbs.PRESENT:
        return False
    if verb in verbs.FORMS_OF_BE:
        return first[1].core in ("a", "an", "the") or second_verb in verbs.ONLY_PAST
    return not any(phrases.is_past(token.core) for token in first[2:])


def _shares_object(first: Sequence[Token]) -> bool:
    """Whether what the first verb governs may come only after the second one."""
    inside_a_list = first[-1].text.endswith(",") and any(
        not phrases.is_bare(t) for t in first[-3:-1]
    )
    return (
        inside_a_list
        or phrases.is_past(first[-1].core)
        or (first[-1].core in verbs.AFTER_VERBS and first[-1].core not in verbs.PRONOUNS)
    )


def _is_plural(tokens: Sequence[Token], subject: Subject) -> bool:
    last = tokens[subject.end - 1].core
    return last.endswith("s") or last in ("they", "we", "you", "people", "children")


def _joined(carried: Sequence[Token], rest: Sequence[Token]) -> tuple[Token, ...]:
    last = carried[-1]
    return (*carried[:-1], last._replace(text=last.text.rstrip(",")), *rest)


def _reach(tokens: Sequence[Token], clause: Clause) -> Span:
    """The part of a clause's own passage that `tokens`, its beginning, cover."""
    return Span(clause.own.start, max(clause.own.start + 1, min(tokens[-1].end, clause.own.end)))


def _is_balanced(clause: Clause) -> bool:
    text = " ".join(token.text for token in clause.tokens)
    return text.count("(") == text.count(")")
