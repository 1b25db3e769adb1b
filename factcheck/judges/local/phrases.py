"""English tokens and what can be read off them: subjects, finite verbs, names, subordinate clauses.

Owns the reading of single phrases; where a sentence may be split is the business of `clauses`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from factcheck.judges.local import verbs


class Token(NamedTuple):
    """A word with the punctuation that clings to it."""

    text: str
    core: str
    """In lower case but for the month of May, without the punctuation around it."""
    start: int
    end: int


_TOKEN = re.compile(r"\S+")
_EMPHASIS = re.compile(r"\*\*|`")
_EDGES = re.compile(r"^\W+|\W+$")
_MOST_SUBJECT_TOKENS = 9
_MOST_LEAD_TOKENS = 7
_LEADS = verbs.word_set("in on at during since after following from by")


class Subject(NamedTuple):
    """The subject is `tokens[start:end]`, its verb `tokens[verb]`."""

    start: int
    end: int
    verb: int


def tokenise(sentence: str) -> tuple[Token, ...]:
    """The tokens of a sentence, as white space separates them."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(sentence):
        text = word = match.group()
        if not text.isalnum():
            text = _EMPHASIS.sub("", text) or text
            word = _EDGES.sub("", text)
        core = word if word == "May" and tokens else word.lower()
        tokens.append(Token(text, core, match.start(), match.end()))
    return tuple(tokens)


def subject_of(tokens: Sequence[Token]) -> Subject | None:
    """Where the subject stands and which token is its verb, if that is plain to see."""
    start = lead(tokens)
    if start >= len(tokens):
        return None
    opener = tokens[start]
    if not (opener.core in verbs.PRONOUNS | verbs.DETERMINERS or opener.text[0].isupper()):
        return None
    if start == 0 and opener.core in verbs.SUBORDINATORS | _LEADS:
        return None
    for index in range(start + 1, min(start + 1 + _MOST_SUBJECT_TOKENS, len(tokens))):
        if is_finite_verb(tokens, index) and tokens[index - 1].core not in verbs.DETERMINERS:
            end = index
            while end > start + 1 and is_adverb(tokens[end - 1]):
                end -= 1
            return Subject(start, end, index)
        token = tokens[index - 1]
        if not is_bare(token) or token.core in verbs.SUBORDINATORS | {"to"}:
            return None
    return None


def lead(tokens: Sequence[Token]) -> int:
    """Number of tokens in an opening such as `In May 2019,`; 0 if there is none."""
    if not tokens or tokens[0].core not in _LEADS:
        return 0
    comma = first_comma(tokens, 0)
    if comma is None or comma >= _MOST_LEAD_TOKENS or has_verb(tokens[: comma + 1]):
        return 0
    return comma + 1


def is_finite_verb(tokens: Sequence[Token], index: int) -> bool:
    """Whether the token is a verb in the present or past, as far as the words around it show."""
    token = tokens[index]
    if not is_bare(token) or token.text[:1].isupper():
        return False
    if token.core in verbs.AUXILIARIES:
        return True
    if not is_past(token.core) and token.core not in verbs.PRESENT:
        return False
    if index + 1 >= len(tokens):
        return False
    follower = tokens[index + 1]
    if follower.core == "by":
        return token.core in verbs.ONLY_PAST
    return follower.core in verbs.AFTER_VERBS or not follower.text[0].islower()


def is_past(core: str) -> bool:
    """Whether a word looks like a past form, or a participle."""
    regular = core.endswith("ed") and len(core) > len("red") and core not in verbs.NOT_PAST
    return regular or core in verbs.IRREGULAR_PAST


def has_subordinate_clause(tokens: Sequence[Token]) -> bool:
    """Whether a subordinate clause opens somewhere in the tokens."""
    return any(
        token.core in verbs.SUBORDINATORS
        and not (token.core in verbs.ALSO_PREPOSITIONS and not has_verb(tokens[index + 1 :]))
        for index, token in enumerate(tokens)
    )


def has_verb(tokens: Sequence[Token]) -> bool:
    """Whether another finite verb comes before any word that opens a subordinate clause."""
    for index, token in enumerate(tokens):
        if token.core in verbs.SUBORDINATORS:
            return False
        if is_finite_verb(tokens, index):
            return True
    return False


def after_verb(tokens: Sequence[Token], index: int) -> Sequence[Token]:
    """What follows the verb at `index`, and the participle that belongs to it."""
    rest = tokens[index + 1 :]
    if tokens[index].core not in verbs.AUXILIARIES:
        return rest
    while rest and (is_adverb(rest[0]) or rest[0].core in ("been", "being", "not")):
        rest = rest[1:]
    return rest[1:] if rest and is_past(rest[0].core) else rest


def listed_names(tokens: Sequence[Token]) -> tuple[tuple[Token, ...], ...]:
    """The names of a list `A, B and C` that makes up all of `tokens`; empty for anything else."""
    names: list[list[Token]] = [[]]
    after_and = False
    for token in tokens:
        if token.core == "and" and is_bare(token):
            after_and = True
            if names[-1]:
                names.append([])
            continue
        if not (token.text[0].isupper() or (token.core in verbs.NAME_PARTICLES and is_bare(token))):
            return ()
        if after_and and token.text.endswith(","):
            return ()
        names[-1].append(token)
        if token.text.endswith(","):
            names.append([])
    if not after_and or not all(
        any(t.text[0].isupper() and len(t.core) > 1 for t in name) for name in names
    ):
        return ()
    return tuple(tuple(name) for name in names)


def is_name(tokens: Sequence[Token]) -> bool:
    """Whether the tokens are two or more capitalised words in one phrase."""
    inner = tokens[:-1]
    return (
        1 < len(tokens) <= _MOST_SUBJECT_TOKENS
        and all(t.text[0].isupper() for t in tokens)
        and all(is_bare(t) for t in inner)
        and tokens[0].core not in _LEADS | verbs.SUBORDINATORS | verbs.PRONOUNS
    )


def is_guarded(tokens: Sequence[Token]) -> bool:
    """Whether something is negated, supposed or only said."""
    return has_word(tokens, verbs.HEDGES | verbs.REPORTING) or any(
        t.core.endswith(("n't", "n\u2019t")) for t in tokens
    )


def has_word(tokens: Sequence[Token], cores: frozenset[str] | set[str]) -> bool:
    """Whether one of the words is among the tokens."""
    return any(token.core in cores for token in tokens)


def is_adverb(token: Token) -> bool:
    """Whether the token is an adverb that may stand before a verb."""
    return is_bare(token) and (
        token.core in verbs.ADVERBS | verbs.SEQUENCE or token.core.endswith("ly")
    )


def is_bare(token: Token) -> bool:
    """Whether no comma or other mark ends the phrase at this token."""
    return token.text[-1] not in ",;:!?)\u2014-"


def first_comma(tokens: Sequence[Token], start: int) -> int | None:
    """Index of the first token from `start` on that ends in a comma."""
    return next((i for i in range(start, len(tokens)) if tokens[i].text.endswith(",")), None)
