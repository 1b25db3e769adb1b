"""Sentences of a text with their places in it.

Segmentation is local: whether a sentence ends at some point, and in which language, depends on what
stands to the left of that point in the same sentence, and on the first word to its right, never on
a pair of both. So two sentences that were apart stay apart when the ones between them are deleted
(but for a number alone, `12.`, which marks an item of a list where it comes to stand first on its
line). The price is that a sentence ending in an abbreviation ("in the U.S.") is not told from the
one after it, and that each sentence of a longer quotation stands alone. `cut_unended` looks to both
sides, for those who only read a text and never delete from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from factcheck.facts import Span
from factcheck.text.blocks import BLANK, Block, split_blocks
from factcheck.text.dates import month_of
from factcheck.text.words import DEFAULT, fold_word, guess_language


class Sentence(NamedTuple):
    """A sentence, or a piece of text that stands for one; `source[span.start:span.end] == text`."""

    text: str
    span: Span


_CLOSERS = rf"[\"'\u201d\u2019\u00bb\u203a)\]}}*_」』\uff09】》〉{BLANK}]"
_END = re.compile(
    r"(?<![.!?\u2026؟।])[.!?\u2026؟।]+"
    rf"(?:{_CLOSERS}|[ \u00a0\u202f][»\u203a])*(?:\[\d+\])*(?=\s|\Z)"
    rf"|[。\uff01\uff1f｡]+{_CLOSERS}*"
    r"|(?<![.!?\u2026\s])[^\S\r\n]*[\r\n]"
)
_MAY_END = re.compile(rf"(?<![.!?\u2026])[.!?\u2026]+{_CLOSERS}*\s+(?=\S)")
_ENDS_WIDE = re.compile(rf"[。\uff01\uff1f｡]{_CLOSERS}*\Z")
_ENDS_WITH_CLOSER = re.compile(rf"{_CLOSERS}\s*\Z")
_FIRST_ALNUM = re.compile(r"\w")
_LEFT_MARGIN = re.compile(r"\s*(?:>\s*)*")
"""White space, and the marks of quoted lines."""
_ONLY_A_NUMBER = re.compile(r"\W*(?:\d{1,3}|[^\W\d_])\W*")
_ORDINAL = re.compile(r"(?<!\d)\d{1,2}\.\Z")
_ORDINAL_LANGUAGES = frozenset({"de", "da", "nb", "fi", "cs", "pl", "hu"})
_ORDINARY = re.compile(
    r"(?<!\S)[\"'\u201c\u2018]*"
    r"(?:War I|me|no|[mM]ay|art|miss|ill|id|ok|OK|fed|con|arc|[kK]en|del|"
    r"(?i:appendix|block|category|class|figure|grade|group|hepatitis|level|line|option|part|"
    r"phase|plan|room|route|scenario|section|team|type|unit|variant|vitamin|zone) [A-HJ-Z])"
    rf"\.{_CLOSERS}*\s*\Z"
)
"""Words that look like abbreviations or initials and end sentences."""
_NEVER_ENDS = re.compile(
    r"(?<!\w)(?:(?:a|an|the|his|her|its|their|our|my|your|at|as|is|was|to|and) "
    r"[\"'\u201c\u2018]?No|approx|M[rs]|Mrs|Dr|Prof|Rev|Hon|Gov|Sen|Gen|Col|Capt|Lt|Sgt)\.\s*\Z"
    r"|\([a-z]{1,7}\.\s*\Z"
)
"""Behind these a sentence goes on: `(pop. 80,000)`."""
_NO_END = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "no", "nr", "fig", "vs", "cf", "g", "e")
)
"""Last words before a full stop, or last letters, after which a name or a number follows."""
_UNENDED = re.compile(
    rf"(?:(?:\w\.|(?<!\w)\w{{2,8}}\.){_CLOSERS}*\s+"
    rf"|(?<![\w'\u2019-])[\w'\u2019-]{{1,40}}[\"'\u2019]? +)"
    r"(?=([A-Z]\w*))"
)
_SURE_STARTERS = frozenset({"The", "He", "She", "They", "This", "These", "His", "Her", "But"})
"""Words that open a sentence even behind a name."""
_LETTERS = frozenset({"A", "An", "As", "If", "That"})
_GOES_ON = re.compile(r"\w+ [a-z]{2}\w*(?! [A-Z])")
"""A starter that is not the first word of a title: `The Old Mill`."""
_NAMING = re.compile(r"\b(?:wrote|published|called|titled|named|film|book|novel|song|read)\s*\Z")
_FEWEST = 3
"""Spaces in a heading."""
_STARTERS = {
    "en": re.compile(
        r"(?:The|He|She|It|They|We|In|On|At|This|That|These|Those|There|His|Her|Its|Their|But|And|"
        r"When|After|As|If|For|A|An|During|Since|While|Although|Before|However|Later|Some|Many)\Z"
    ),
    "de": re.compile(r"(?:Der|Die|Das|Er|Sie|Es|Ein|Eine|Im|Am|In|Wir|Und|Aber|Dann|Danach)\Z"),
}
"""Words that open a sentence if they have a capital letter; by language."""
_CONTINUES = re.compile(
    r"(?:[,;(\[{\u2013—-]|\b(?:a|an|the|of|and|or|to|in|on|at|by|for|with|from|as|that|which|who|is|are|"
    r"was|were|be|has|have|had|her|his|its|their|der|die|das|den|dem|des|ein|eine|einen|einem|und|"
    r"oder|von|mit|zu|im|am|le|la|les|du|et|ou|un|une|sur|dans|pour|par|el|los|las|del|y|o|en|con|"
    r"por|para|una|mr|mrs|ms|dr|president|minister))\s*\Z",
    re.IGNORECASE,
)
_WITH_YEAR = re.compile(r"\((?:19|20)\d\d\)")
"""Behind a title: `Great Balls of Fire! (1989)`."""
_KEY_VALUE = re.compile(r"[^\s:][^:.!?]{0,40}:\s+\S")
_WRAPPED_WIDTH = 60
"""A line at least this wide, in columns, without an end of sentence goes on in the next one."""
_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\ud7af\uf900-\ufaff\uff00-\uff60]")
_REACH = 80
"""Characters that are looked at on either side of a possible end of sentence."""
_LONGEST_END = 40
"""Characters that a word with the full stop and closing marks after it has at most."""
_SAMPLE = 400
"""Characters before a possible end of sentence from which the language is guessed."""
_PROBE = " Xqzt said it."
"""What follows is taken for an unknown name, so that abbreviations never end a sentence."""


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, in order.

    Args:
        text: Plain text or Markdown; any line ends.

    Returns:
        Sentences, list items, headings, table rows and lines of code. Every character that is
        neither white space nor a marker or decoration is inside exactly one of them. Lines broken
        in the middle of a sentence are joined, with the line break kept in the sentence's text.
    """
    return tuple(
        sentence for block in split_blocks(text) for sentence in block_sentences(text, block)
    )


def block_sentences(text: str, block: Block) -> tuple[Sentence, ...]:
    """The sentences of one block of `text`; rows, headings and code are one each."""
    start, end = block.span
    if block.kind not in ("prose", "item"):
        return (Sentence(text[start:end], block.span),)
    sentences = []
    for match in _END.finditer(text, start, end):
        cut = match.end()
        if cut > start and _ends_here(text, start, cut, block.span):
            sentences.append(_trimmed(text, start, cut))
            start = cut
    if text[start:end].strip():
        sentences.append(_trimmed(text, start, end))
    return tuple(sentence for sentence in sentences if sentence.text)


def cut_unended(sentence: Sentence, language: str) -> tuple[Sentence, ...]:
    """A sentence of `split_sentences`, cut also where one ends in no mark of its own.

    It does behind an abbreviation, where the next word could not go on after it, `in the U.S. The
    children`, and behind a heading or a caption: `Ulm from above The mayor said`.
    """
    starters = _STARTERS.get(language)

    def ends(match: re.Match[str], start: int) -> bool:
        last = match.group().strip().rstrip(".\"')\u201d\u2019").lower()
        is_start = starters is not None and starters.match(match.group(1)) is not None
        if not is_start:
            return False
        left = _left_of(match, start)
        if "." in match.group():
            return not _is_title(left[: -len(match.group().rstrip())], last)
        right = match.string[match.end() : match.end() + _REACH]
        return language == DEFAULT and _is_heading(left, right)

    return tuple(_cut(sentence, _UNENDED, ends))


def _is_heading(left: str, right: str) -> bool:
    """Whether a sentence begins in the middle of a line: `at the gate The mayor said`."""
    first = right.split(None, 1)[0]
    is_name = not left.rsplit(None, 1)[-1][0].islower()
    is_sure = first in _SURE_STARTERS or not (is_name or first in _LETTERS)
    is_long = left.count(" ") >= _FEWEST
    if not (is_long and is_sure and _GOES_ON.match(right)):
        return False
    return not (_CONTINUES.search(left) or _NAMING.search(left))


def split_passages(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text, cut at every full stop that may end one: `May. Anna`, `U.S. Army`.

    For looking things up: if two sentences of a reader were left in one piece, deleting the next
    one would put another beside them, and more would seem to stand together than before.
    """

    def ends(match: re.Match[str], start: int) -> bool:
        right = match.string[match.end() : match.end() + _REACH]
        return not _starts_lower(right) and not _surely_goes_on(_left_of(match, start))

    return tuple(
        piece for sentence in split_sentences(text) for piece in _cut(sentence, _MAY_END, ends)
    )


def _cut(
    sentence: Sentence, pattern: re.Pattern[str], ends: Callable[[re.Match[str], int], bool]
) -> Iterator[Sentence]:
    """Cut a sentence behind the matches for which `ends(match, start of the piece)` holds."""
    text, span = sentence
    start = 0
    for match in (*pattern.finditer(text), None):
        if match is None or ends(match, start):
            end = len(text) if match is None else match.end()
            piece, place = _trimmed(text, start, end)
            yield Sentence(piece, Span(span.start + place.start, span.start + place.end))
            start = end


def _left_of(match: re.Match[str], start: int) -> str:
    """The end of a piece before the white space that a match ends in; never empty."""
    end = match.start() + len(match.group().rstrip())
    return match.string[max(start, end - _REACH) : end]


def _surely_goes_on(ending: str) -> bool:
    """Whether a full stop belongs to a title, an initial or a number, whatever follows."""
    last = ending.rsplit(None, 1)[-1].rstrip(".\"')\u201d\u2019").lower()
    return (
        _is_title(ending[: -len(last) - 1], last)
        or _ONLY_A_NUMBER.fullmatch(ending) is not None
        or _ORDINAL.search(ending) is not None
        or _NEVER_ENDS.search(ending) is not None
    )


def _is_title(before: str, last: str) -> bool:
    """Whether a full stop belongs to `Mr.`, or to the initial of a name."""
    if last == "g" and before.rstrip()[-1:].isdigit():  # `a mass of 19 g.`
        return False
    is_initial = len(last) == 1 and not before.endswith(".")
    return last in _NO_END or is_initial


def _ends_here(text: str, start: int, cut: int, block: Span) -> bool:
    """Whether the sentence that starts at `start` ends at `cut`."""
    opening = text[start : min(start + _REACH, cut)]
    ending = text[max(start, cut - _REACH) : cut]
    begin = _end_of_margin(text, cut, block.end)
    right = text[begin : min(begin + _REACH, block.end)]
    is_title = ending.rstrip().endswith(("!", "?")) and _WITH_YEAR.match(right)
    if not opening.strip() or not right or is_title:
        return False
    if ending[-1] in "\r\n":
        return _breaks_at_line_end(text, start, cut, block, right)
    tail = max(0, len(ending) - _LONGEST_END)
    if _starts_lower(right) and (
        not _starts_lower(opening) or _ENDS_WITH_CLOSER.search(ending, tail)
    ):
        return False
    if _ENDS_WIDE.search(ending, tail) or _ORDINARY.search(ending, tail):
        return True
    language = guess_language(text[max(start, cut - _SAMPLE) : cut])
    is_ordinal = _ORDINAL.search(ending, tail) and (
        language in _ORDINAL_LANGUAGES or month_of(fold_word(right.split(None, 1)[0]))
    )
    if is_ordinal or _ONLY_A_NUMBER.fullmatch(ending) or _NEVER_ENDS.search(ending, tail):
        return False
    return all(_closes(ending.strip(), code) for code in {DEFAULT, language})


def _breaks_at_line_end(text: str, start: int, cut: int, block: Span, right: str) -> bool:
    """Whether a line without an end of sentence is complete, rather than wrapped."""
    line_start = (
        max(text.rfind("\n", 0, cut - 1), text.rfind("\r", 0, cut - 1), block.start - 1) + 1
    )
    line = text[line_start:cut].strip()
    if _KEY_VALUE.match(line):
        return not right[0].islower()
    sentence_before_on_line = start > line_start and text[line_start:start].strip()
    width = len(line) + len(_WIDE.findall(line))
    wrapped = (
        sentence_before_on_line or width >= _WRAPPED_WIDTH or _CONTINUES.search(line[-_REACH:])
    )
    return not wrapped and not right[0].islower() and right[0] not in ",;.)]}"


def _starts_lower(text: str) -> bool:
    """Whether the first word is written small (`iPhone` is not)."""
    first = _FIRST_ALNUM.search(text)
    if first is None or not first.group().islower():
        return False
    word = text[first.start() :].split(None, 1)[0]
    return not any(letter.isupper() for letter in word) and not _WIDE.search(word)


@lru_cache(maxsize=4096)
def _closes(tail: str, language: str) -> bool:
    """Whether a sentence may end after `tail`, whatever follows: no abbreviation, no initial."""
    from sentencex import get_sentence_boundaries  # type: ignore[import-untyped]

    clean = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in tail)
    boundaries = get_sentence_boundaries(language, clean + _PROBE)
    return any(len(tail) <= boundary["end_index"] <= len(tail) + 1 for boundary in boundaries)


def _trimmed(text: str, start: int, end: int) -> Sentence:
    begin = _end_of_margin(text, start, end)
    stripped = text[begin:end].rstrip()
    return Sentence(stripped, Span(begin, begin + len(stripped)))


def _end_of_margin(text: str, start: int, end: int) -> int:
    margin = _LEFT_MARGIN.match(text, start, end)
    return margin.end() if margin else start
