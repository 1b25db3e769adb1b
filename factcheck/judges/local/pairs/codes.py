"""Values of a closed kind: no value, yes and no, addresses on the net, phones, identifiers."""

from __future__ import annotations

import re
from functools import lru_cache

from factcheck.judges.local.pairs.model import OTHER, SAME, SIMILAR, Finding, against
from factcheck.judges.local.pairs.normal import Plain
from factcheck.text.words import word_set


def _phrases(text: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in text.replace("\n", " ").split(","))


LABELS = word_set(
    """
    invoice rechnung order bestellung id isbn issn doi sn serial ref reference model vat ust idnr
    iban bic po account acct konto case file ticket tracking ph part item art version version code
    number nummer num no nr page pages seite p pp s section chapter kapitel
    """
)
"""Said before a number or a code, they say what it is the number of."""

_YES = word_set("yes y true ja oui si vrai wahr correct richtig checked ✓ ✔ sim verdadero")
_NO = word_set(
    "no n none nothing nichts rien nada false nein non faux falsch incorrect unchecked nao falso ✗"
    " ✘"
)
_ABSENT = _phrases(
    """
    null, none, nil, nan, n a, na, not available, not applicable, not given, not provided,
    not stated, not specified, not mentioned, no data, empty, missing, undefined,
    keine angabe, keine angaben, k a, entfallt, nicht vorhanden, nicht angegeben, aucun,
    aucune, non disponible, non precise, sans objet, ninguno, ninguna, no disponible,
    no aplica, tbd
    """
)
"""Ways to say that there is no value, as normal forms."""
_UNKNOWN = _phrases(
    """
    unknown, not known, unclear, unbekannt, nicht bekannt, inconnu, inconnue, desconocido
    """
)
"""Ways to say that nobody knows."""

_COUNTRIES = """
us usa: united states, united states of america, america, vereinigte staaten, etats unis, estados
unidos; gb uk gbr: united kingdom, great britain, britain, vereinigtes konigreich, royaume uni; de
deu ger: germany, deutschland, allemagne, alemania, federal republic of germany; fr fra: france,
frankreich, francia; es esp: spain, spanien, espagne, espana; it ita: italy, italien, italie,
italia; nl nld: netherlands, the netherlands, holland, niederlande, pays bas; be bel: belgium,
belgien, belgique; ch che sui: switzerland, schweiz, suisse, svizzera; at aut: austria,
osterreich, autriche; dk dnk: denmark, danemark, danmark; se swe: sweden, schweden, suede,
sverige; no nor: norway, norwegen, norvege, norge; fi fin: finland, finnland, finlande, suomi; ie
irl: ireland, republic of ireland, irland, irlande; pt prt: portugal; pl pol: poland, polen,
pologne, polska; cz cze: czech republic, czechia, tschechien, republique tcheque; sk svk:
slovakia, slowakei; hu hun: hungary, ungarn, hongrie; ro rou: romania, rumanien, roumanie; bg bgr:
bulgaria, bulgarien; gr grc: greece, griechenland, grece; tr tur: turkey, turkei, turquie,
turkiye; ua ukr: ukraine; ru rus: russia, russian federation, russland, russie; cn chn: china,
people s republic of china, prc, chine; jp jpn: japan, japon; kp prk: north korea; kr kor: south
korea, republic of korea, sudkorea; in ind: india, indien, inde; au aus: australia, australien,
australie; nz nzl: new zealand, neuseeland; ca can: canada, kanada; mx mex: mexico, mexiko,
mexique; br bra: brazil, brasilien, bresil, brasil; ar arg: argentina, argentinien; za zaf rsa:
south africa, sudafrika; ae are uae: united arab emirates; sa sau ksa: saudi arabia; il isr:
israel; eg egy: egypt, agypten, egypte; sg sgp: singapore, singapur; eu: european union,
europaische union, union europeenne
"""
"""Codes and names; the first code is that by which a country is known."""
_STATES = """
al alabama; ak alaska; az arizona; ar arkansas; ca california; co colorado; ct connecticut; de
delaware; fl florida; ga georgia; hi hawaii; id idaho; il illinois; in indiana; ia iowa; ks
kansas; ky kentucky; la louisiana; me maine; md maryland; ma massachusetts; mi michigan; mn
minnesota; ms mississippi; mo missouri; mt montana; ne nebraska; nv nevada; nh new hampshire; nj
new jersey; nm new mexico; ny new york; nc north carolina; nd north dakota; oh ohio; ok oklahoma;
or oregon; pa pennsylvania; ri rhode island; sc south carolina; sd south dakota; tn tennessee; tx
texas; ut utah; vt vermont; va virginia; wa washington; wv west virginia; wi wisconsin; wy
wyoming; dc district of columbia
"""

_EMAIL = re.compile(r"(?:mailto:)?([\w.+%-]+@[\w-]+(?:\.[\w-]+)+)\.?", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:https?://)?((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?)(/[^\s]*|\?[^\s]*|#[^\s]*)?", re.IGNORECASE
)
_PHONE = re.compile(r"(?:tel\.?:?\s*)?\+?[\d\s()./-]{7,25}", re.IGNORECASE)
_DATE_LIKE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}")
_CODE = re.compile(r"[^\W_]+(?:[-\s_/][^\W_]+)*")
_SEPARATORS = re.compile(r"[\s()./_-]+")
_VERSION = re.compile(r"(?:v|version)?\.?\s?(\d+(?:\.\d+){2,})", re.IGNORECASE)
_DOI = re.compile(r"(?:(?:https?://)?(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_AT_BOUNDARY = re.compile(r"(?<=[^\W\d])[-\s](?=\d)|(?<=\d)[-\s](?=[^\W\d])")
_RANGE = re.compile(r"\d+\s?[-/_]\s?\d+")
_TRUNK = re.compile(r"\(0\)")
_LONGEST_PLACE_CODE = 3
_FEWEST_PHONE_DIGITS = 7
_FEWEST_SHARED_DIGITS = 6
_LONGEST_COUNTRY_CODE = 3
_LONGEST_CODE = 64
_SHORTEST_CODE = 5
_MOST_GROUPS = 8


def compare_absence(first: Plain, second: Plain) -> Finding | None:
    """Whether there is a value at all; `None` if there is on both sides."""
    if first.text in _UNKNOWN and second.text in _UNKNOWN:
        return Finding(SAME, "unknown on either side")
    is_first, is_second = is_absent(first), is_absent(second)
    if is_first and is_second:
        return Finding(SAME, "no value on either side")
    if is_first or is_second:
        return Finding(OTHER, f"no value in {'gold' if is_first else 'extracted'}")
    return None


def is_absent(value: Plain) -> bool:
    return not value.tokens or value.text in _ABSENT


def compare_answers(first: Plain, second: Plain) -> Finding | None:
    """Whether two values are the same answer; `None` unless both are a yes or a no."""
    one, other = _answer(first, second), _answer(second, first)
    if one is None or other is None:
        return None
    if one == other:
        return Finding(SAME, "same answer")
    return Finding(OTHER, against(first.text, second.text))


def _answer(value: Plain, other: Plain) -> bool | None:
    """A yes or a no; digits are one only beside a word that is."""
    if value.text in {"1", "0"} and other.text in _YES | _NO:
        return value.text == "1"
    if value.text in _YES:
        return True
    return False if value.text in _NO else None


@lru_cache(maxsize=1)
def places() -> dict[str, frozenset[str]]:
    """What the codes and names of countries and of states of the US stand for, by normal form.

    A code may stand for two of them (`de`, `ca`), so that names are the same if they share one.
    """
    meant: dict[str, set[str]] = {}
    for entry in " ".join(_COUNTRIES.split()).split("; "):
        codes, _, names = entry.partition(": ")
        for name in (*codes.split(), *names.split(", ")):
            meant.setdefault(name, set()).add(codes.split()[0])
    for entry in " ".join(_STATES.split()).split("; "):
        code, _, name = entry.partition(" ")
        for key in (code, name):
            meant.setdefault(key, set()).add(f"us-{code}")
    return {name: frozenset(codes) for name, codes in meant.items()}


def compare_places(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Whether two texts name the same country or state; `None` unless both name one."""
    one, other = (
        places().get(value.text, frozenset())
        if len(value.text) > _LONGEST_PLACE_CODE or text.isupper()
        else frozenset()
        for text, value in zip((first, second), plains, strict=True)
    )
    if not one or not other:
        return None
    same = bool(one & other)
    return Finding(SAME, "same place") if same else Finding(OTHER, against(first, second))


@lru_cache(maxsize=8192)
def _net_address(text: str) -> str:
    """An e-mail or web address in its shortest form; empty if the text is none."""
    doi = _DOI.fullmatch(text)
    if doi:
        return doi[1].lower()
    email = _EMAIL.fullmatch(text)
    if email:
        return email[1].lower()
    address = _ADDRESS.fullmatch(text)
    if address is None or ("/" not in text and text.count(".") < 1):
        return ""
    host = address[1].lower().removeprefix("www.")
    path = (address[2] or "").rstrip("/")
    return f"{host}{path}"


@lru_cache(maxsize=8192)
def _phone(text: str) -> str:
    """The digits of a phone number, `+` in front if international; empty if the text is none."""
    if not _PHONE.fullmatch(text) or _DATE_LIKE.fullmatch(text.strip()):
        return ""
    bare = _TRUNK.sub("", text)
    digits = "".join(c for c in bare if c.isdigit())
    if len(digits) < _FEWEST_PHONE_DIGITS:
        return ""
    if "+" in text or digits.startswith("00"):
        return "+" + digits.removeprefix("00")
    return digits


@lru_cache(maxsize=8192)
def _code(text: str) -> str:
    """An identifier without its separators; empty if the text is none."""
    if len(text) > _LONGEST_CODE or not any(c.isdigit() for c in text):
        return ""
    bare = _without_label(text.strip("#. "))
    is_code = _CODE.fullmatch(bare) and not _RANGE.fullmatch(bare)
    if not is_code or len(bare.split()) > _MOST_GROUPS:
        return ""
    return _SEPARATORS.sub("", bare).upper()


def _without_label(text: str) -> str:
    """`ISBN 978-...`, `Invoice No. 5`: what stands behind the words for what it is."""
    words = text.split()
    while len(words) > 1 and words[0].lower().strip(".:#") in LABELS:
        words = words[1:]
    return " ".join(words).lstrip("#")


def _is_same_code(first: str, second: str) -> bool:
    """Whether two texts are one identifier, apart from its separators."""
    version = _VERSION.fullmatch(first), _VERSION.fullmatch(second)
    if version[0] and version[1]:
        return version[0][1] == version[1][1]
    one, other = _code(first), _code(second)
    if not one or one != other:
        return False
    if len(one) >= _SHORTEST_CODE:
        return True
    return all(_AT_BOUNDARY.sub("", text).isalnum() for text in (first, second))


def compare_codes(first: str, second: str) -> Finding | None:
    """Whether two tidy texts are the same address, phone number or identifier.

    `None` if they are not of one of these kinds, or if they are identifiers that differ: whether
    the difference matters is then a question of their numbers.
    """
    one, other = _net_address(first), _net_address(second)
    if one and other:
        same = one == other
        return Finding(SAME, "same address") if same else Finding(OTHER, against(first, second))
    one, other = _phone(first), _phone(second)
    if one and other and (one == other or _same_line(one, other) or _same_line(other, one)):
        same = one.removeprefix("+") == other.removeprefix("+")
        return Finding(SAME if same else SIMILAR, "same digits")
    return Finding(SAME, "same characters") if _is_same_code(first, second) else None


def _same_line(international: str, national: str) -> bool:
    """Whether a number with its country code ends in one without."""
    if not international.startswith("+") or national.startswith("+"):
        return False
    line = national.removeprefix("0")
    code = len(international) - 1 - len(line)
    return (
        len(line) >= _FEWEST_SHARED_DIGITS
        and international.endswith(line)
        and 1 <= code <= _LONGEST_COUNTRY_CODE
    )
