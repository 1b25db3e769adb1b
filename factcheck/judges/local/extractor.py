"""The embedded extractor: a text in, its atomic facts out, without any model that judges."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from factcheck.facts import AtomicFact, FactSet, Span, digest
from factcheck.judges.local.acceptor import accept
from factcheck.judges.local.asides import read_tokens
from factcheck.judges.local.pronouns import Mentions
from factcheck.judges.local.propositions import Propositions
from factcheck.judges.local.roles import IN_PICTURE
from factcheck.judges.local.sentences import block_sentences, cut_unended
from factcheck.judges.local.statements import (
    LABEL,
    LONGEST_QUOTE,
    PREFIX,
    Places,
    Quoted,
    ends_sentence,
    is_metadata,
    is_statement,
    leaves_open,
    plain,
    read_quote,
    reporter,
)
from factcheck.judges.local.tree import BRACKET, FINITE, NAMES, WORDS, Tree, is_person
from factcheck.judges.local.wording import Wording, finished
from factcheck.runtime.deadline import checkpoint, run_in_thread
from factcheck.text.blocks import read_html, split_blocks
from factcheck.text.syntax import Token
from factcheck.text.words import english_words, guess_language

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger

IDENTITY: Mapping[str, str] = {"extractor": "local/31"}
"""Moves with every change that can change a fact."""
_SPEAKS = re.compile(r"\b(?:[Ii]|[Mm]e|[Mm]y|[Ww]e|[Uu]s|[Oo]ur)\b")
"""Words that mean whoever says them."""
_SAYS_I = re.compile(r"\b(?:I|[Mm]e|[Mm]y)\b")
_PARTS = re.compile(r"\S(?:\((?:[^()]|\([^()]{0,80}\)){0,300}\)|\[[^\[\]]*\]|[^;]|;(?!\s))*;?")
"""What semicolons part, but for those in brackets."""
_ORDER = ("VB", "ROOT")
"""Tag and relation of a verb that tells somebody to do something."""
_WHOLE = re.compile(rf"[\"\u201c\u201d]|\b(?:{'|'.join(sorted(WORDS['saying']))})\b")
"""Behind a semicolon in what somebody says, nothing begins."""
_UNSPLIT = re.compile(
    r"\ANot that\b|\b(?:respectively|yet to|anything but|nothing but|far from"
    r"|\d+-\d+ (by|to|against|over) [^,.]{1,40}(?:,| and) \d+-\d+ \1"
    r"|between \d[\d,.]* and \d[\d,.]* (?:[a-z]+s|people|men|women|children))\b",
    re.IGNORECASE,
)
"""Words that turn what stands around them, or hold it together."""
_ITEM = re.compile(
    r"(?<![\w.,])(?:[$\u20ac\u00a3] ?)?\d[\d.,]{0,20}[%\u20ac]?(?: [^\W\d][\w-]*){0,3}? "
    r"(?:\([^()]{1,60}\) )?"
    r"(?P<by>in|on|for|at) [^\s,;:()\"\u201c\u201d][^,;:()\"\u201c\u201d]{1,40}?"
    r"(?=,? (?:and|or) |[,.;](?!\d)|\Z)"
)
"""`3 per cent in Norway`."""
_JOINT = re.compile(r"(?:,? (?:and|or) |, )(?:(?P<lead>by|to|at) )?")
_TIED = re.compile(
    r"\b(?:between|from|both|together|total|combined|sum|average|respectively|neither|nor|not)\b"
    r"|\bof (?:the |his |her |its |their )?\Z",
    re.IGNORECASE,
)
"""Before values that are not told one by one."""
_UNIT = r"thousand|million|billion|per cent|percent|euros?|dollars|pounds|tonnes|kg|km"
_AMOUNT = rf"(?:[$\u20ac\u00a3] ?)?\d[\d.,]*(?<![.,])%?(?: (?:{_UNIT})\b)*"
_GAPPED = re.compile(
    rf"(?P<lead>(?:In|On|By|At|For|During) [^,;:()]{{1,40}}, )?"
    rf"(?P<one>[^,;:()]{{1,80}}?) (?P<be>was|were|is|are) (?P<value>{_AMOUNT})"
    rf"(?P<others>(?:(?:,? and |, )[a-z][^,;:()\d]{{0,60}}? {_AMOUNT}){{1,8}})\."
)
"""`Income was 5 million and spending 4 million.`"""
_OTHER = re.compile(rf"(?:,? and |, )(?P<one>[^\d]+?) (?P<value>{_AMOUNT})(?=,? and |, |\Z)")
_INVERTING = frozenset({"up", "down", "out", "in", "off", "away", "here", "there"})
"""Behind these, the subject follows its verb."""
_OF_SPEAKERS = frozenset({"apposition", "title", "relative", "participle"})
"""Kinds of propositions about a noun."""
_CLOSERS = " \n\r\t\"'\u201d\u2019)]*_"
_FARTHEST_SPEAKER = 3
"""Sentences of a quotation after which its speaker is still looked for."""
_END = re.compile(r"[\"'\u201d\u2019](?=\s+\w)")
_STRAY = re.compile(
    r"[\u201d\u2019](?=\s+\w)|'(?=\s+\w)(?!.*(?:\s'|'\s|'\Z|[\"\u201c\u201d\u2018]))"
)
"""The closing mark of a sentence before, in a text with spaces around its marks."""
_PICTURE = re.compile(rf"{IN_PICTURE.pattern}|, pictured\b")
"""What only captions say: `Anna Kern (right)`."""
_MARK = re.compile(r"[\"\u201c\u201d]|(?<!\w)['\u2018]|['\u2019](?!\w)")
"""A quotation mark, not an apostrophe."""
_WORD = re.compile(r"\w+")


class Told(NamedTuple):
    """What a sentence states."""

    text: str
    place: Span
    """In the sentence."""
    core: int | None = None
    """Which of the statements of the sentence this adds a detail to."""


class LocalExtractor:
    """Lists the facts of a text from the grammar of its sentences; offline and deterministic."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Name and version of these rules."""
        return IDENTITY

    async def extract(self, source: str, ledger: Ledger) -> FactSet:  # noqa: ARG002 - costs nothing
        """Return the facts of `source`, in its order; empty if it states none."""
        return await run_in_thread(extract_facts, source)


def extract_facts(source: str) -> FactSet:
    """Return the atomic facts of a text, each with the passage it comes from.

    English sentences are taken apart into clauses and details, with names in place of pronouns that
    can mean nobody else; texts in other languages into sentences. A detail names its core.
    """
    found: dict[tuple[str, ...], AtomicFact] = {}
    for group in _groups(read_html(source)):
        ids: list[str] = []
        for text, span, core in group:
            key = tuple(_WORD.findall(text.lower()))
            if key not in found:
                of = None if core is None else ids[core]
                found[key] = AtomicFact(f"f{len(found) + 1}", text, span, core=of)
            ids.append(found[key].id)
    return FactSet(tuple(found.values()), digest(source), tuple(IDENTITY.items()))


def _groups(source: str) -> Iterator[list[Told]]:
    """Yield what each sentence of a text states, with places in the text."""
    language = guess_language(source)
    places, mentions = Places(source), Mentions()
    blocks = split_blocks(source)
    ended = {block: ends_sentence(source[slice(*block.span)].rstrip(_CLOSERS)) for block in blocks}
    prose = [ended[block] for block in blocks if block.kind == "prose"]
    has_titles = 2 * sum(prose) >= len(prose)
    for block in blocks:
        label = places.above(block)
        is_line = "\n" not in source[slice(*block.span)].strip()
        is_title = is_line and block.kind == "prose" and has_titles and not ended[block]
        if label is None or is_title or block.kind not in ("prose", "item"):
            continue
        mentions.next_paragraph()
        wholes = block_sentences(source, block)
        sentences = [piece for whole in wholes for piece in cut_unended(whole, language)]
        is_item = block.kind == "item"
        reader = _Reader(mentions, is_english=language == "en", label=label)
        for number, sentence in enumerate(sentences):
            checkpoint()
            text, offsets = plain(sentence.text)
            is_short_item = is_item and (number > 0 or len(wholes) == 1)
            later = [each.text for each in sentences[number + 1 : number + 1 + LONGEST_QUOTE]]
            for group in reader.read(text, later, is_item=is_short_item):
                yield [
                    each._replace(place=_moved(each.place, offsets, sentence.span.start))
                    for each in group
                ]


def _moved(place: Span, offsets: Sequence[int], start: int) -> Span:
    return Span(start + offsets[place.start], start + offsets[place.end - 1] + 1)


class _Reader:
    """Reads the sentences of one block in order."""

    def __init__(self, mentions: Mentions, *, is_english: bool, label: str) -> None:
        self._mentions = mentions
        self._is_english = is_english
        self._label = label
        self._named_speaker = ""
        """As in `Anna: ...`."""
        self._speaker = ""
        """Of the last quotation, as in `Anna said`."""
        self._is_open = False
        self._is_broken = False
        """Whether the mark behind the last sentence may belong to the next: `ended.' I left`."""

    def read(self, text: str, later: Sequence[str], *, is_item: bool) -> Iterator[list[Told]]:
        """Yield what the next sentence states."""
        if self._is_open and _PICTURE.search(text) and not _MARK.search(text):
            speaker = self._speaker  # a caption between two paragraphs of a quotation
            yield from self._statements(text, 0, len(text), self._label, is_item=is_item)
            self._speaker = speaker
        else:
            yield from self._read(text, later, is_item=is_item)

    def _read(self, text: str, later: Sequence[str], *, is_item: bool) -> Iterator[list[Told]]:
        own, prefix = _label(text), PREFIX.match(text)
        if own and is_metadata(own):
            return
        ended = _END.match(text) if self._is_open else None
        if ended is None and not _SPEAKS.search(text):
            ended = _STRAY.match(text)
        if ended:  # the closing mark of the last sentence
            self._is_open = False
            text = " " * ended.end() + text[ended.end() :]
        if own:
            self._named_speaker = own.group(1) if _is_speaker(own.group(1)) else ""
        speaks = self._named_speaker if _SPEAKS.search(text) and not own else ""
        opening = own or prefix or ended
        start = opening.end() if opening else 0
        is_caption = own is not None and not is_item and own.group(1).islower()
        shown = own.group(1) if own and not is_caption else ""
        said = " ".join(filter(None, (self._label or speaks, shown)))
        quoted = self._quotation(text) if self._is_english and not own else None
        was_open, self._is_open = self._is_open, leaves_open(text, later, is_open=self._is_open)
        if quoted is None:
            self._speaker = ""
            yield from self._statements(text, start, len(text), said, is_item=is_item)
            return
        if quoted.who:
            self._speaker = self._resolved(quoted)
        elif self._is_open and not was_open:
            self._speaker = self._next_speaker(later) or self._speaker
        speaker = self._speaker
        if speaker:
            end = quoted.start + len(quoted.said)
            yield from self._statements(text, quoted.start, end, speaker + ":", is_item=False)
        elif _WORD.search(quoted.said):
            yield [Told(f'"{finished(quoted.said)}"', Span(0, len(text)))]
        yield _told_of_speaker(text, quoted.who)

    def _quotation(self, text: str) -> Quoted | None:
        """Read a sentence that somebody says, or goes on saying."""
        is_led = bool(self._speaker)
        quoted = read_quote(text, is_open=self._is_open, is_led=is_led)
        if quoted is None and self._is_broken and is_led and _SAYS_I.search(text):
            quoted = Quoted(text, 0, "", "")
        self._is_broken = text.endswith(".'")
        return quoted

    def _resolved(self, quoted: Quoted) -> str:
        tree = Tree(quoted.who, read_tokens(quoted.who))
        named = self._mentions.read(tree)
        speaker = quoted.speaker.rpartition(" ")[0]
        is_name = {token.tag for token in tree.tokens if token.text in speaker.split()} <= NAMES
        if is_name and speaker and _SAYS_I.search(quoted.said):
            self._mentions.introduce(speaker)
        first, _, rest = quoted.speaker.partition(" ")
        name = next((name for at, name in named.items() if tree.low[at] == first.lower()), first)
        return finished(f"{name} {rest}").rstrip(".")

    def _next_speaker(self, later: Sequence[str]) -> str:
        for text in later[:_FARTHEST_SPEAKER]:
            quoted = read_quote(plain(text)[0], is_open=True)
            if quoted is None or quoted.speaker:
                return self._resolved(quoted) if quoted else ""
            if not leaves_open(text, (), is_open=True):
                break
        return ""

    def _tree(self, text: str) -> tuple[Propositions, int]:
        """Read a sentence; one without a subject, `Also won in 1999.`, gets that of the last.

        Returns:
            The sentence, and how many characters were put before it.
        """
        tree = Propositions(text, _read_cased(text) if self._is_english else ())
        subject = self._mentions.subject
        before = tree.tokens[: tree.root]
        is_cut = bool(tree.tokens) and tree.tokens[tree.root].tag in ("VBD", "VBZ")
        is_cut = is_cut and tree.subject(tree.root) is None
        is_led = all(token.tag == "RB" and token.text.lower() not in _INVERTING for token in before)
        if not (subject and is_cut and is_led):
            return tree, 0
        whole = f"{subject} {text[:1].lower()}{text[1:]}"
        return Propositions(whole, read_tokens(whole)), len(whole) - len(text)

    def _statements(
        self, text: str, start: int, end: int, said: str, *, is_item: bool
    ) -> Iterator[list[Told]]:
        for part, offsets, item in _parts(text[start:end]):
            tree, shift = self._tree(part)
            tree.bound = range(shift + item.start, shift + item.end)
            if not said:
                self._speaker = reporter(tree)
            named = self._mentions.read(tree, said)
            if not is_statement(tree, is_item=is_item, is_labelled=bool(said)):
                continue
            group = []
            for told in _told(tree, named):
                first, last = max(0, told.place.start - shift), max(1, told.place.end - shift)
                place = _moved(Span(first, last), offsets, start)
                if said and not offsets[first]:
                    place = Span(0, place.end)
                speaker = self._named_speaker if _SPEAKS.search(told.text) else ""
                group.append(Told(f"{said or speaker} {told.text}".strip(), place, told.core))
            yield group


def _read_cased(text: str) -> list[Token]:
    """Parse a sentence; one without capitals with those that it would have."""
    if not text.islower():
        return read_tokens(text)
    cased = text[:1].upper() + text[1:]
    for token in read_tokens(cased):
        is_known = token.text in english_words() or token.text.isdigit()
        is_name = token.tag in NAMES or (token.tag == "NN" and not is_known)
        if is_name and token.relation != BRACKET:
            end = token.start + len(token.text)
            cased = cased[: token.start] + token.text.title() + cased[end:]
    return [
        token._replace(text=text[token.start : token.start + len(token.text)])
        for token in read_tokens(cased)
    ]


def _label(text: str) -> re.Match[str] | None:
    """Return the label of a sentence: `Price: 20 EUR`, but not `Prices were flat: ...`."""
    own = LABEL.match(text)
    if own and own.group(1).count("(") > own.group(1).count(")"):
        return None  # `Velm (Dutch: Velmen) is ...`
    tree = Tree(own.group(1), read_tokens(own.group(1))) if own else None
    is_clause = tree is not None and bool(tree.tokens) and tree.subject(tree.root) is not None
    return None if is_clause else own


def _is_speaker(label: str) -> bool:
    """Tell whether a label is a name or a role, and so goes with the sentences behind it, too."""
    if not label.istitle():
        return False
    last = read_tokens(label.rstrip(":\uff1a"))[-1]
    return last.tag in NAMES or is_person(last.text.lower())


def _parts(text: str) -> Iterator[tuple[str, Sequence[int], Span]]:
    """Yield what semicolons part, once for each value of a list.

    Each part ends like a sentence, and comes with the places of its characters in the text, and
    with the place of the value in it.
    """
    for start, end in _clauses(text):
        clause = text[start:end]
        for places, shown in _gapped(clause) or _one_by_one(clause):
            part = "".join(clause[place] for place in places)
            ended = part[:-1] + "." if part.endswith(";") else part
            yield ended, [start + place for place in places], shown


def _one_by_one(text: str) -> Iterator[tuple[list[int], Span]]:
    """Yield the places of the characters of a text with each value of a list in it."""
    items = _items(text)
    first, last = (items[0].start, items[-1].end) if items else (0, 0)
    for item in items or [Span(0, 0)]:
        places = [*range(first), *range(item.start, item.end), *range(last, len(text))]
        yield places, Span(first, first + item.end - item.start)


def _clauses(text: str) -> list[tuple[int, int]]:
    """Return what semicolons part; what is no clause goes with the clause before it."""
    if ";" not in text or _WHOLE.search(text):
        return [(0, len(text))]
    clauses: list[tuple[int, int]] = []
    for match in _PARTS.finditer(text):
        tokens = read_tokens(text[slice(*match.span())])
        is_clause = any(t.tag in FINITE or (t.tag, t.relation) == _ORDER for t in tokens)
        if clauses and not is_clause:
            clauses[-1] = (clauses[-1][0], match.end())
        else:
            clauses.append(match.span())
    return clauses


def _gapped(text: str) -> list[tuple[list[int], Span]]:
    """Return the places of the characters of each of several things that share a verb."""
    whole = _GAPPED.fullmatch(text)
    if whole is None:
        return []
    others = list(_OTHER.finditer(text, *whole.span("others")))
    nouns = [token for other in others for token in read_tokens(other["one"])]
    if any(token.tag in FINITE | {"VBN", "IN"} for token in nouns):
        return []
    lead = range(max(0, whole.end("lead")))
    verb = range(whole.start("be") - 1, whole.end("be") + 1)
    told = [[*range(whole.end("value"))]]
    told += [
        [*lead, *range(*each.span("one")), *verb, *range(*each.span("value"))] for each in others
    ]
    return [([*places, len(text) - 1], Span(0, 0)) for places in told]


def _items(text: str) -> list[Span]:
    """Return the values that a sentence gives of one thing each: `3 % in Ulm and 5 % in Bonn`."""
    items: list[re.Match[str]] = []
    link = ""
    for item in _ITEM.finditer(text):
        gap = text[items[-1].end() : item.start()] if items else ""
        joint = _JOINT.fullmatch(gap)
        lead = joint["lead"] if joint else None
        is_led = lead is None or text.endswith(f" {lead} ", 0, items[0].start())
        if joint and is_led and item["by"] == items[0]["by"]:
            items.append(item)
            link = gap
        elif len(items) > 1:
            break
        else:
            items = [item]
    if not link.strip(", ") or _TIED.search(text[: items[0].start()]):
        return []
    listed = range(items[0].start(), items[-1].end())
    is_ended = not text[listed.stop :].lstrip().startswith(("and ", "or "))
    has_verb = any(word.tag in FINITE for word in read_tokens(text) if word.start in listed)
    return [Span(*item.span()) for item in items] if is_ended and not has_verb else []


def _told_of_speaker(text: str, who: str) -> list[Told]:
    """Return what is told of a speaker beside a quotation: `said Anna Kern, who owns the mill`."""
    verb, _, name = who.partition(" ")
    is_behind = verb.lower() in WORDS["saying"]
    shown = f"{name.rstrip(' .')}, {verb}." if is_behind else who
    place = Span(text.index(who), text.index(who) + len(who))
    tree = Propositions(shown, read_tokens(shown))
    told = _accepted(tree, Wording(tree, {}), _OF_SPEAKERS)
    return [each._replace(place=place) for each in told]


def _accepted(
    tree: Propositions, wording: Wording, kinds: Container[str] | None = None
) -> list[Told]:
    """Return the accepted propositions, of some kinds or of all, and their details."""
    found = tree.read()
    statements = [wording.tell(each.segments, each.singular) for each in found]
    kept: dict[int, int] = {}
    told: list[Told] = []
    texts = [each.text for each in statements]
    for at, is_kept in enumerate(accept(tree, found, texts, whole=kinds is None)):
        core = found[at].core
        kind = found[at if core is None else core].kind
        is_open = kind == "title" and wording.is_open(found[at].segments)
        if kind == "apposition":
            nouns = found[at].head, tree.tokens[found[at].head].head
            owners = [owner for noun in nouns for owner in tree.of(noun, "poss")]
            is_open = wording.is_open(found[at].segments, owners)
        if is_kept and not is_open and (kinds is None or kind in kinds):
            kept[at] = len(told)
            of = None if core is None else kept.get(core)
            told.append(Told(statements[at].text, statements[at].own, of))
    return told


def _told(tree: Propositions, named: Mapping[int, str]) -> list[Told]:
    """Return what a sentence states; all of it in one piece if it cannot be taken apart."""
    wording = Wording(tree, named)
    told = [] if _UNSPLIT.search(tree.text) else _accepted(tree, wording)
    if told:
        return told
    words = frozenset(i for i in range(len(tree.tokens)) if not tree.is_mark[i])
    if words and named:
        return [Told(*wording.tell((words,), None))]
    return [Told(finished(tree.text), Span(0, len(tree.text)))]
