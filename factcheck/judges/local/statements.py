"""Which sentences state something, who says what is quoted, and what stands above them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from factcheck.judges.local.tree import NAMES, NOUNS, WORDS, Tree
from factcheck.text.blocks import BLANK, Block
from factcheck.text.words import irregular_forms


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
LABEL = re.compile(
    r"(?:\[?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp][Mm])?\]?\s*[-\u2013]?\s*)?"
    r"([^\W\d_][\w'&/.()-]*(?: [\w'&/.()-]+){0,2}[:\uff1a])\s+(?=\S)"
)
"""`Price: `, `[12:30] Anna: `: up to three words, and what stands behind them is about them."""
PREFIX = re.compile(
    r"\( ?(?:CNN|AP|AFP|Reuters|Bloomberg) ?\)(?: ?[\u2013\u2014-]{1,2})? (?=\S)|"
    r"\(?\d{1,2}[.)]\s+(?=[A-Z])|[A-Z]{3,20}(?: [A-Z]{2,20}){0,2}"
    r"(?:, [^.!?\u2013\u2014]{1,30}| \([^)]{1,20}\))? [\u2013\u2014-]{1,2} (?=[A-Z])"
)
"""`2. ` of an item that the lines of a paragraph hide; `LINDAU, 4 March \u2013 ` of a report."""
_METADATA = {f"{label}:".replace("_", " ") for label in WORDS["metadata"]}
_NO_FACTS_BELOW = re.compile(rf"(?:.*\b)?(?:{_any_of('silent headings')})\W*\Z", re.IGNORECASE)
"""Headings and lead-ins of lists that state nothing."""
_LAST_SENTENCE = re.compile(r"[^.!?\n]{1,120}[:\uff1a]\Z")
_TURNS = re.compile(
    r"\b(?:not|never|no|if|unless|without|avoid|myths?|false|wrong|denied|denies|claims?|claimed|"
    rf"critics|may|might|could|cannot|{_any_of('saying')})\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""Words before a list without which its items say something else."""
_AMOUNT = re.compile(
    r"[\d½¼¾⅓⅔][\d\s./,½¼¾⅓⅔-]*(?:x\s*)?(?:kg|g|mg|ml|cl|dl|l|"
    r"oz|lb|lbs|cups?|tbsp|tsp|tablespoons?|"
    r"teaspoons?|pinch(?:es)?|cloves?|slices?|cans?|tins?|handfuls?)?\b(?! ?[%:])",
    re.IGNORECASE,
)
_FORMULA = re.compile(rf"\W*(?:{_any_of('formulas')})(?!\w)", re.IGNORECASE)
_CREDIT = re.compile(r"\bcontributed to this (?:report|article|story)\W*\Z", re.IGNORECASE)
_QUESTION_WORDS = frozenset({"what", "how", "why", "where", "who"})
_REST = re.compile(r"(?:[Ww]here|[Ww]hich|who|[Ww]hose) ")
"""Opens the rest of a sentence that a formula or a picture parts: `where h is the height`."""
_AIM = re.compile(r"To [a-z]+ ")
"""Opens an aim, which states nothing without a verb that has a tense: `To compare two drugs.`."""
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
_LISTED = NOUNS | {"CD", "CC"}
"""Tags of the words of `Anna, Tom and Ida.`, `1, 2 and 3.`"""
_OPEN = r"(?:[\"\u201c\u00ab]|\u2018(?=\s?\w)|(?<![^\s:])'(?=\s|[A-Za-z]))"
_CLOSE = r"(?:[\"\u201d\u00bb]|(?<=[\s.,!?])\u2019|(?<=\s)'(?!\S)|(?<=[.,!?])'(?!\w))"
_SAYING = "|".join(sorted(WORDS["saying"]))
_BEHIND, _BEHIND_OPEN = (
    re.compile(
        rf"{opens}(?P<said>.+?),?\s*{_CLOSE},?\s+(?P<who>[^\"\u201c\u201d]{{2,200}})\Z", re.DOTALL
    )
    for opens in (_OPEN, "")
)
_BEFORE = re.compile(
    rf"(?P<who>[^\"\u201c\u201d]{{2,200}}?)[:,]\s*{_OPEN}(?P<said>.+)\Z", re.DOTALL
)
_NAME_FIRST = re.compile(
    rf"(?P<name>[^,]{{1,80}}?)(?:,[^,]*,)?\s+(?P<verb>{_SAYING})\b", re.IGNORECASE
)
_VERB_FIRST = re.compile(
    rf"(?P<verb>{_SAYING})\s+(?P<name>[^,.]{{1,80}}?)(?=[,.]|\s(?:on|in|at|after|to|during|about)\s|\Z)",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\bquoted (?P<whom>(?!by\b)[^,.:]{1,60}?) as saying\b"
    r"|\A(?P<who>[^,.:]{1,60}?) (?:was|were|is|are) quoted\b[^.:]{0,80} as saying\b"
)
_ROLE = re.compile(
    r"\b(?:(?:[Ii]ts|[Hh]is|[Hh]er|[Tt]heir|[\w-]+['\u2019]s?) )(?:[a-z-]+ ){0,3}[a-z]+, "
    r"(?P<name>(?:[A-Z][\w'\u2019.-]+ ){1,2}[A-Z][\w'\u2019.-]*\w)(?:, (?=[a-z])|(?=[.,]|\Z))"
)
"""Before a name, what somebody is: `its president, Anna Kern, said`."""
_NESTED = re.compile(r"\b(?:said|says) (?:.* )?(?:said|says)\W*\Z")
_DATE = r"\d{1,2} [A-Z][a-z]+ \d{4} Last updated at \d\d:\d\d [A-Z]{3,4}"
_FURNITURE = re.compile(
    rf"\A(?:Media playback is (?:not supported|unsupported) on (?:this|your) device(?:\s+{_DATE})?"
    rf"|{_DATE}"
    r"|Scroll down for (?:a )?videos?|(?:Check out|Watch) the videos? (?:above|below)[^.]{0,80}"
    r"|More (?:updates )?on [^.]{1,60}? and other (?:(?:stories|news) (?:in|from) )?[A-Z]\w+"
    r"(?: and [A-Z]\w+)?(?: news)?)[.:]?\s()(?=\S)",
    re.IGNORECASE,
)
"""What pages of news put before a sentence."""
_UNEVEN = re.compile(r"\A\s|\s\s|[^\S ]|\s\Z|\A\Z")
"""White space that is not one space between words."""
_TYPED_QUOTE = re.compile(r"''|``")
_SPACED = re.compile(
    r"(?<=[a-z]{2}n)(?<!\bvan) (['\u2019]) ?(?=t\b)"
    r"|(?<=\w) (['\u2019]) ?(?=(?:s|re|ve|ll|d|m)\b(?!['\u2019]))"
)
"""White space inside of a short form: `it ' s`."""
_DOUBLE = re.compile(
    r"(?P<opens>[\u201c\u00ab]|(?<![^\s(\[\u2013\u2014-])\"(?![\s.,;:!?)\]\u2013\u2014-]|\Z))"
    r"|(?P<closes>[\u201d\u00bb]|(?<=[^\s(\[\u2013\u2014-])\"(?=[\s.,;:!?)\]\u2013\u2014-]|\Z))"
    r"|\""
)
"""Quotation marks; one between two spaces may open or close."""
_SINGLE = re.compile(
    r"(?P<opens>\u2018(?=\s?\w)|(?<!\S)'(?=[A-Za-z])|(?<=:)'(?=\s))"
    r"|(?P<closes>(?<=[\s.,!?])\u2019|(?<=[.,!?])'(?!\w))|(?<=\w)[\u2019'](?!\w)"
)
"""The same with one stroke; one behind a word may end a short quotation, or be an apostrophe."""
_MARKS = re.compile(rf"\A\s*{_OPEN}\s*|\s*{_CLOSE}\s*\Z")
_WITHOUT_HEARER = {"told": "said", "tells": "says"}
_TITLE = re.compile(r"\b(Drs?|M(?:r|rs|s)|Prof|Gov|Sen|Rep|Gen|Col|Capt|Lt|Sgt|St)\.(?= )")
_LINK_WORD = re.compile(r"\A(?:But|And|However,|Meanwhile,) ")
LONGEST_QUOTE = 6
"""Sentences of a quotation behind its first."""
_FEWEST = 3
"""Words of a quotation that is told apart from the sentence around it."""


def ends_sentence(text: str) -> bool:
    """Tell whether a text ends with the mark of a sentence."""
    return _ENDS_SENTENCE.search(text) is not None or _ASKS.search(text) is not None


def is_metadata(label: re.Match[str]) -> bool:
    """Tell whether a label names data about a document: `Priority:`."""
    return label.group(1).lower() in _METADATA


def plain(text: str) -> tuple[str, list[int]]:
    """A sentence without Markdown, tags and doubled white space; `''` is one quotation mark.

    Returns:
        The text, and for each of its characters its place in the sentence.
    """
    gone = (
        {place for place, letter in enumerate(text) if letter == BLANK} if BLANK in text else set()
    )
    for pattern in (_LINK, _EMPHASIS, _FURNITURE, _SPACED):
        for match in pattern.finditer(text):
            inner = range(*match.span(match.lastindex)) if match.lastindex else ()
            gone |= {*range(*match.span())} - {*inner}
    quotes = {match.start() for match in _TYPED_QUOTE.finditer(text)}
    gone |= {place + 1 for place in quotes}
    if not gone and _UNEVEN.search(text) is None:
        return _TITLE_END.sub(r"\2\1", text), list(range(len(text)))
    offsets: list[int] = []
    for place, letter in enumerate(text):
        is_doubled = letter.isspace() and (not offsets or text[offsets[-1]].isspace())
        if place not in gone and not is_doubled:
            offsets.append(place)
    letters = ['"' if place in quotes else text[place] for place in offsets]
    told = "".join(" " if letter.isspace() else letter for letter in letters).rstrip()
    if not told:
        return " ".join(text.split()), list(range(len(text)))
    return _TITLE_END.sub(r"\2\1", told), offsets


def is_statement(tree: Tree, *, is_item: bool, is_labelled: bool) -> bool:
    """Whether a sentence states something: no question, greeting, title, code or ingredient."""
    bare = _ADDRESS.sub(" ", tree.text).strip(" *_")
    words = _WORD.findall(bare)
    if not words or _is_talk(tree, bare, words):
        return False
    if _WIDE.search(bare):
        return len(_WIDE.findall(bare)) > 1
    if is_labelled:
        return True
    if len(bare) < _LONGEST_CODE and _CODE.search(bare):
        return False
    return _is_full_item(tree, bare, words) if is_item else _is_full(tree, bare, words)


def _is_talk(tree: Tree, bare: str, words: Sequence[str]) -> bool:
    """Whether a sentence asks, greets, introduces or thanks."""
    is_opening = _FORMULA.match(bare) is not None or _is_heading(tree)
    is_short = is_opening and len(words) <= _LONGEST_FORMULA
    is_small = _SMALL_TALK.issuperset(map(str.lower, words))
    asks = _ASKS.search(tree.text) is not None or bare.rstrip(".").endswith((":", "\uff1a"))
    asks |= _REST.match(bare) is not None and not bare.islower()
    asks |= _AIM.match(bare) is not None and tree.finite(tree.root) is None
    return asks or is_short or is_small or _CREDIT.search(bare) is not None


def _is_full_item(tree: Tree, bare: str, words: Sequence[str]) -> bool:
    is_amount = _AMOUNT.match(bare) is not None
    if tree.tokens and (is_amount or len(words) <= _LONGEST_LABEL):
        is_named = not is_amount and any(token.tag == "DT" for token in tree.tokens)
        return _has_verb(tree) or is_named
    return len(words) > 1


def _is_full(tree: Tree, bare: str, words: Sequence[str]) -> bool:
    is_ended = _ENDS_SENTENCE.search(bare) is not None
    if not tree.tokens:
        return len(words) > (1 if is_ended else _LONGEST_FORMULA)
    marks = zip(tree.tokens, tree.is_mark, strict=True)
    if {token.tag for token, is_mark in marks if not is_mark} <= _LISTED:
        return False
    if is_ended:
        is_counted = any(token.tag == "CD" for token in tree.tokens)
        is_led = _MAY_BE_VERB.search(words[0].lower()) is not None  # `Fixes the lists of names`
        is_long = len(words) > _LONGEST_FRAGMENT and (is_counted or is_led)
        return _has_verb(tree) or is_long or _may_end_in_verb(tree)
    return tree.finite(tree.root) is not None  # else a title, with or without a date


def _has_verb(tree: Tree) -> bool:
    return any(
        token.tag in _VERBS and token.relation not in ("amod", "prep") for token in tree.tokens
    )


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


class Places:
    """What stands above a block: headings, and the label of an item."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._open: list[tuple[int, str]] = []
        self._is_silent = False
        self._lead = ""
        """What turns the items below it: `The tenant must not:`."""

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
            lead = _LAST_SENTENCE.search(text) if text.endswith((":", "\uff1a")) else None
            self._lead = lead.group() if lead and _TURNS.search(lead.group()) else ""
            return ""
        column = start - max(self._source.rfind(mark, 0, start) for mark in "\n\r") - 1
        while self._open and self._open[-1][0] >= column:
            self._open.pop()
        label = self._open[-1][1] if self._open else self._lead
        is_label = text.endswith(":") and text.count(" ") < _LONGEST_LABEL
        self._open.append((column, text if is_label else ""))
        return None if self._is_silent else label


class Quoted(NamedTuple):
    """A sentence that somebody says."""

    said: str
    start: int
    """Where it begins in the sentence."""
    who: str
    """The words beside it that name the speaker; empty if there are none."""
    speaker: str
    """`Anna Kern said`; empty if nobody is named."""


def read_quote(text: str, *, is_open: bool, is_led: bool = False) -> Quoted | None:
    """Read a sentence of which the main part stands between quotation marks.

    Args:
        text: The sentence.
        is_open: Whether a quotation began before it.
        is_led: Whether it is known who spoke in the sentence before.
    """
    for pattern in (_BEHIND_OPEN if is_open else _BEHIND, _BEFORE):
        match = pattern.match(text)
        speaker = _speaker(match["who"]) if match else ""
        is_rest = match is not None and match["said"][0].islower() and "," in match["who"]
        if match and speaker and len(match["said"].split()) >= _FEWEST and not is_rest:
            return _quoted(text, match.start("said"), match.end("said"), match["who"], speaker)
    opens = re.match(_OPEN, text) is not None
    end = re.search(_CLOSE, text[1:])
    is_short = end is not None and not (is_open or is_led) and len(text.split()) < _FEWEST
    if not (is_open or opens) or is_short:
        return None
    if end and re.search(r"\w", text[1 + end.end() :]):
        return None
    return _quoted(text, 0, len(text), "", "")


def reporter(tree: Tree) -> str:
    """Return who says something in a sentence, `Anna Kern said`; empty if nobody is named."""
    if not tree.is_saying:
        return ""
    subject = tree.subject(tree.root)
    if subject is None or subject > tree.root:
        return ""
    last = tree.tokens[subject]
    if last.tag not in NAMES or not last.text.isalpha():
        return ""
    before = tree.text[tree.tokens[tree.start(subject)].start : last.start]
    verb = tree.low[tree.root]
    return f"{before}{last.text} {_WITHOUT_HEARER.get(verb, verb)}"


def leaves_open(text: str, later: Sequence[str], *, is_open: bool) -> bool:
    """Tell whether a quotation goes on behind a sentence.

    One whose end is not in the next few sentences of `later` has lost it, or was none, unless it
    is opened again before, as at the beginning of a paragraph.
    """
    goes_on = _goes_on(text, is_open=is_open)
    if is_open or not goes_on:
        return goes_on
    return any(
        not _goes_on(each, is_open=True) or re.match(_OPEN, each) for each in later[:LONGEST_QUOTE]
    )


def _goes_on(text: str, *, is_open: bool) -> bool:
    """Tell whether a quotation is open behind a text; each paragraph of one may open it again."""
    for mark in _DOUBLE.finditer(text):
        if mark["opens"]:
            is_open = True
        elif mark["closes"]:
            is_open = False
        else:
            is_open = not is_open
    if _DOUBLE.search(text):
        return is_open
    was_open = is_open
    for mark in _SINGLE.finditer(text):
        if mark["opens"]:
            was_open, is_open = is_open, True
        elif mark["closes"]:
            was_open = is_open = False
        else:
            is_open = was_open
    return is_open


def _quoted(text: str, start: int, end: int, who: str, speaker: str) -> Quoted:
    said = text[start:end]
    bare = _MARKS.sub("", said)
    return Quoted(bare, start + said.index(bare), who, speaker)


def _speaker(who: str) -> str:
    who = _TITLE.sub(r"\1", _LINK_WORD.sub("", who.lstrip("'\u2018\u2019 ")))
    last = who.rpartition(", ")[2]  # `Asked about it, Anna Kern said`
    if _NESTED.search(who):  # `Police said that the driver said`
        return who.rstrip(" ,:.")
    if quoted := _QUOTED.search(who):  # `the paper quoted Anna Kern as saying`
        return f"{quoted['whom'] or quoted['who']} said"
    who = _ROLE.sub(r"\g<name>", who)
    match = _VERB_FIRST.match(who) or _NAME_FIRST.match(last) or _NAME_FIRST.match(who)
    verb = match["verb"].lower() if match else ""
    verb = _WITHOUT_HEARER.get(verb, verb)
    return f"{match['name'].strip()} {verb}" if match else ""
