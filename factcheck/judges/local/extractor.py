"""The embedded extractor: a text in, its atomic facts out, without any model that judges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from factcheck.facts import AtomicFact, FactSet, Span, digest
from factcheck.judges.local.clauses import ParsedSentence
from factcheck.judges.local.grammar import WORDS, Tree
from factcheck.judges.local.pronouns import THINGS, Mentions, has_rival, thing_of
from factcheck.judges.local.sentences import block_sentences, cut_at_abbreviations
from factcheck.runtime.deadline import checkpoint, run_in_thread
from factcheck.text.blocks import Block, split_blocks
from factcheck.text.language import guess_language
from factcheck.text.syntax import parse
from factcheck.text.words import irregular_forms

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger

IDENTITY: Mapping[str, str] = {"extractor": "local/17"}
"""Moves with every change that can change a fact."""


def _any_of(name: str) -> str:
    """Return a pattern of the phrases of a list."""
    return "|".join(re.escape(phrase.replace("_", " ")) for phrase in sorted(WORDS[name]))


_LONGEST_LABEL = 4
_LONGEST_FRAGMENT = 4
_LONGEST_FORMULA = 8
"""Words; what begins like a greeting and is longer is a sentence."""
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_EMPHASIS = re.compile(r"(\*\*|__|`|~~|(?<!\w)[*_](?=\S))(.{1,200}?)\1(?!\w)|\*\*")
_TITLE_END = re.compile(r"(?<=[\w!])([,.;])([\"\u201d])(?=\s|\Z)")
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{3,200}")
_LABEL = re.compile(
    r"(?:\[?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp][Mm])?\]?\s*[-\u2013]?\s*)?"
    r"([^\W\d_][\w'&/.()-]*(?: [\w'&/.()-]+){0,2}[:\uff1a])\s+(?=\S)"
)
"""`Price: `, `[12:30] Anna: `: up to three words, and what stands behind them is about them."""
_NUMBER = re.compile(r"\(?\d{1,2}[.)]\s+(?=[A-Z])")
"""`2. ` of an item that the lines of a paragraph hide."""
_SPEAKS = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Uu]s|[Oo]ur)\b")
"""Words that mean whoever says them."""
_METADATA = {f"{label}:".replace("_", " ") for label in WORDS["metadata"]}
_NO_FACTS_BELOW = re.compile(rf"(?:.*\b)?(?:{_any_of('silent headings')})\W*\Z", re.IGNORECASE)
"""Headings and lead-ins of lists that state nothing."""
_AMOUNT = re.compile(
    r"[\d½¼¾⅓⅔][\d\s./,½¼¾⅓⅔-]*(?:x\s*)?(?:kg|g|mg|ml|cl|dl|l|"
    r"oz|lb|lbs|cups?|tbsp|tsp|tablespoons?|"
    r"teaspoons?|pinch(?:es)?|cloves?|slices?|cans?|tins?|handfuls?)?\b(?! ?[%:])",
    re.IGNORECASE,
)
_FORMULA = re.compile(rf"\W*(?:{_any_of('formulas')})(?!\w)", re.IGNORECASE)
_QUESTION_WORDS = frozenset({"what", "how", "why", "where", "who"})
_SMALL_TALK = WORDS["small talk"]
_CODE = re.compile(
    r"\A\s*(?:[$>#]\s+\w|(?:at|File|Traceback|import|from|def|class|return|function|const|let|var|"
    r"SELECT|INSERT|GET|POST|curl|pip|npm|git|sudo)\b(?=.*[(){}\[\]=;/\"<>_-]).*(?<![.!?])$)"
    r"|[{};]\s*\Z|\A\S*[=(]\S*\)?;?\Z|\A\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\w+\(.*\)\s*[;{:]?\s*\Z|=>|"
    r"\A\s*[\w.]+\s*(?:=|:=|\+=)\s*\S"
)
_LONGEST_CODE = 500
"""Characters of a line that is looked at for code."""
_ENDS_SENTENCE = re.compile(r"[.!。\uff01…;\uff1b]\W*\Z")
_ASKS = re.compile(r"[?\uff1f؟]\W*\Z")
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Scripts whose words no spaces part."""
_MAY_BE_VERB = re.compile(r"\A[a-z]+(?:[^s]s|ed)\Z")
_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"})


class LocalExtractor:
    """Lists the facts of a text from the grammar of its sentences; offline and deterministic."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Name and version of these rules."""
        return IDENTITY

    async def extract(self, source: str, ledger: Ledger) -> FactSet:  # noqa: ARG002 - costs nothing
        """The facts of `source`, in its order; empty if it states none."""
        return await run_in_thread(extract_facts, source)


def extract_facts(source: str) -> FactSet:
    """The atomic facts of a text, each with the passage it comes from.

    English sentences are taken apart into clauses and details, with names in place of pronouns that
    can mean nobody else; texts in other languages into sentences.
    """
    language = guess_language(source)
    found: dict[tuple[str, ...], AtomicFact] = {}
    for text, span in _statements(source, language):
        found.setdefault(tuple(_WORD.findall(text.lower())), AtomicFact("f", text, span))
    return FactSet(
        facts=tuple(
            AtomicFact(f"f{number}", fact.text, fact.span)
            for number, fact in enumerate(found.values(), 1)
        ),
        source_digest=digest(source),
        made_by=tuple(IDENTITY.items()),
    )


def _statements(source: str, language: str) -> Iterator[tuple[str, Span]]:
    """What a text states, with the passages."""
    places, mentions, is_english = _Places(source), Mentions(), language == "en"
    for block in split_blocks(source):
        label = places.above(block)
        if label is None or block.kind not in ("prose", "item"):
            continue
        mentions.next_paragraph()
        wholes = block_sentences(source, block)
        speaker = ""
        for whole in wholes:
            is_item = block.kind == "item" and (whole is not wholes[0] or len(wholes) == 1)
            for sentence in cut_at_abbreviations(whole, language):
                checkpoint()
                told, offsets = plain(sentence.text)
                own = _LABEL.match(told)
                if own:
                    is_name = own.group(1).istitle() and own.group(1).lower() not in _METADATA
                    speaker = own.group(1) if is_name else ""
                start = sentence.span.start
                for begin, part in _independent_parts(told) if is_english else [(0, told)]:
                    said = label or ("" if own or not _SPEAKS.search(part) else speaker)
                    for text, place in _facts_of(
                        part, mentions, parsed=is_english, is_item=is_item, label=said
                    ):
                        first = start + offsets[begin + place.start]
                        last = start + offsets[begin + place.end - 1]
                        yield text, Span(first, last + (source[last] != ";"))


def _facts_of(
    text: str, mentions: Mentions, *, parsed: bool, is_item: bool, label: str
) -> Iterator[tuple[str, Span]]:
    """What the next sentence of a paragraph states, each with its place in the sentence."""
    number, own = _NUMBER.match(text), _LABEL.match(text)
    if own and own.group(1).lower() in _METADATA:
        return
    start = own.end() if own else number.end() if number else 0
    body = text[start:]
    tree = ParsedSentence(body, parse(body) if parsed else ())
    tree.named = mentions.read(tree)
    if not _is_statement(tree, is_item=is_item, is_labelled=bool(own or label)):
        return
    said = " ".join(filter(None, (label, own.group(1) if own else "")))
    for statement in tree.statements():
        place = Span(start + statement.own.start, start + statement.own.end)
        if said and not statement.own.start:
            place = Span(0, place.end)
        yield f"{said} {statement.text}".strip(), place


def _independent_parts(text: str) -> list[tuple[int, str]]:
    """What semicolons and colons part, with places; a part that leans on another stays with it."""
    pieces = list(re.finditer(r"\S.*?(?:[;:](?=\s)|\Z)", text))
    if len(pieces) == 1 or re.search(r"[\"\u201c()\[\]]", text):
        return [(0, text)]
    starts: list[int] = []
    was_full, form = False, ""
    for piece in pieces:
        part = re.sub(r"[;:]\Z", ".", piece.group())
        tree = Tree(part, parse(part))
        relations = {token.relation for token in tree.tokens}
        if not tree.tokens or relations & {"ccomp", "mark"} or "according" in tree.low:
            return [(0, text)]
        subject = tree.subject(tree.root)
        after_colon = text[: piece.start()].rstrip().endswith(":")
        is_full = subject is not None and not (
            after_colon and (tree.finite(tree.root) is None or tree.tokens[0].tag[0] == "W")
        )
        word = tree.low[subject or 0]
        is_known = word not in WORDS["pronouns"] or form in THINGS.get(word, ())
        if not (was_full and is_full and is_known):
            starts = starts or [0]
        else:
            starts.append(piece.start())
        form = "" if subject is None else thing_of(tree, subject)[1]
        form = "" if has_rival(tree, form) else form
        before_colon = piece.group().endswith(":")
        was_full = is_full and not (before_colon and tree.low[tree.root] in WORDS["reporting"])
    parts = [(a, text[a:b].rstrip()) for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [(start, part[:-1] + ".") for start, part in parts[:-1]] + parts[-1:]


def plain(text: str) -> tuple[str, list[int]]:
    """A sentence without Markdown and doubled white space.

    Returns:
        The text, and for each of its characters its place in the sentence.
    """
    gone: set[int] = set()
    for pattern, inner in ((_LINK, 1), (_EMPHASIS, 2)):
        for match in pattern.finditer(text):
            gone |= {*range(*match.span())} - {*range(*match.span(inner))}
    offsets: list[int] = []
    for place, letter in enumerate(text):
        is_doubled = letter.isspace() and (not offsets or text[offsets[-1]].isspace())
        if place not in gone and not is_doubled:
            offsets.append(place)
    told = "".join(" " if text[place].isspace() else text[place] for place in offsets).rstrip()
    if not told:
        return " ".join(text.split()), list(range(len(text)))
    return _TITLE_END.sub(r"\2\1", told), offsets


def _is_statement(tree: Tree, *, is_item: bool, is_labelled: bool) -> bool:  # noqa: PLR0911
    """Whether a sentence states something: no question, greeting, title, code or ingredient."""
    bare = _ADDRESS.sub(" ", tree.text).strip(" *_")
    words = _WORD.findall(bare)
    if _ASKS.search(tree.text) or bare.endswith((":", "\uff1a")) or not words:
        return False
    is_opening = _FORMULA.match(bare) is not None or _is_heading(tree)
    if _SMALL_TALK.issuperset(map(str.lower, words)) or (
        is_opening and len(words) <= _LONGEST_FORMULA
    ):
        return False
    if _WIDE.search(bare):
        return len(_WIDE.findall(bare)) > 1
    if is_labelled:
        return True
    if len(bare) < _LONGEST_CODE and _CODE.search(bare):
        return False
    verbs = [i for i, t in enumerate(tree.tokens) if t.tag in _VERBS and t.relation != "amod"]
    if is_item:
        is_amount = _AMOUNT.match(bare) is not None
        if tree.tokens and (is_amount or len(words) <= _LONGEST_LABEL):
            is_named = not is_amount and any(token.tag == "DT" for token in tree.tokens)
            return bool(verbs) or is_named
        return len(words) > 1
    if not tree.tokens:
        return len(words) > (1 if _ENDS_SENTENCE.search(bare) else _LONGEST_FORMULA)
    if _ENDS_SENTENCE.search(bare):
        return bool(verbs) or len(words) > _LONGEST_FRAGMENT or _may_end_in_verb(tree)
    return tree.finite(tree.root) is not None  # else a title, with or without a date


def _may_end_in_verb(tree: Tree) -> bool:
    """Whether a word behind a noun may be a verb that the parser took for a noun: `Rain froze.`."""
    tokens = [token for token in tree.tokens if token.text[0].isalnum()]
    last = tokens[-1].text if tokens else ""
    is_verb = _MAY_BE_VERB.search(last) is not None or last in irregular_forms()
    return is_verb and tokens[-2].tag[:2] in ("NN", "CD") if len(tokens) > 1 else False


def _is_heading(tree: Tree) -> bool:
    """Whether a sentence is a question without its mark: `What went well.`."""
    is_asked = tree.low[:1] and tree.low[0] in _QUESTION_WORDS and ":" not in tree.low
    return bool(is_asked) and tree.tokens[0].head == tree.root


class _Places:
    """What stands above a block: headings, and the label of an item."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._open: list[tuple[int, str]] = []
        self._is_silent = False

    def above(self, block: Block) -> str | None:
        """The label of a block, empty if it has none; `None` where nothing is stated.

        Blocks come in the order of the source.
        """
        start, end = block.span
        text = plain(self._source[start:end])[0].replace("*", "")
        if block.kind == "heading" or text.endswith(":"):
            self._is_silent = bool(_NO_FACTS_BELOW.match(text))
        elif block.kind == "prose":
            self._is_silent = False
        if block.kind != "item":
            self._open = []
            return ""
        column = start - max(self._source.rfind(mark, 0, start) for mark in "\n\r") - 1
        while self._open and self._open[-1][0] >= column:
            self._open.pop()
        label = self._open[-1][1] if self._open else ""
        is_label = text.endswith(":") and text.count(" ") < _LONGEST_LABEL
        self._open.append((column, text if is_label else ""))
        return None if self._is_silent else label
