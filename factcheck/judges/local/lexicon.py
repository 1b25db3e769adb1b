"""Small word tables the embedded judge reads by: closed classes of words, number words, months.

Every entry is folded: lower case, without accents. Languages without a table fall back to no
function words and the digits only.
"""

from __future__ import annotations

from functools import lru_cache


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "en": _set(
        """
        a an the this that these those such and or but if then than as of at by for
        from in into on onto to with within about across after against along among
        around before beneath beside between beyond during except off out over past since
                through throughout toward towards under until up upon via while i me my mine
        myself we us our ours ourselves you your
        yours yourself he him his himself she her hers herself it its itself they them
        their theirs themselves who whom whose which what when where why how is am are
        was were be been being has have had having do does did doing will would shall
        should can could may might must ought there here also too very just only even
        still yet so both each either some any all own other another one ones re ve ll d
        m s t ca wo sha because although though whether however per amid mr mrs ms dr
        get got gets him"""
    ),
    "de": _set(
        """
        der die das den dem des ein eine einen einem einer eines und oder aber wenn
        dann als wie von an auf bei fur aus in im ins am zum zur zu mit nach vor uber
        unter zwischen durch gegen um bis seit wahrend wegen ich mich mir du dich dir er
        ihn ihm sie ihr es wir uns euch ihnen sein seine seinen seinem seiner seines
        ihre ihren ihrem ihrer ihres mein meine unser unsere ist bin sind war waren sei
        gewesen hat habe haben hatte hatten wird werden wurde wurden worden kann konnen
        konnte konnten soll sollen sollte muss mussen musste will wollen wollte darf
        durfen dass daß da dort hier auch noch nur schon sehr so sich selbst man was wer
        wo welche welcher welches dieser diese dieses diesem diesen jener jede jeder
        jedes alle ob damit weil doch vom beim man"""
    ),
    "fr": _set(
        """
        le la les l un une des du de d au aux et ou mais si alors que qu comme a dans
        en par pour sur sous avec chez vers entre depuis pendant avant apres contre je j
        me m moi tu te t toi il elle on nous vous ils elles lui leur leurs eux se s son
        sa ses mon ma mes ton ta tes notre nos votre vos ce c cet cette ces ceci cela ca
        qui quoi dont ou quand quel quelle quels quelles est suis es sommes etes sont
        etait etaient ete etre fut furent sera seront serait ai as avons avez ont avait
        avaient eu avoir aura peut peuvent pouvait doit doivent fait y aussi tres plus
        encore meme tout tous toute toutes ne n donc car lorsqu jusqu puisqu"""
    ),
    "es": _set(
        """
        el la los las un una unos unas lo de del al a y e o u pero si que como en por
        para con sobre bajo entre desde hasta hacia durante antes despues contra yo me
        mi tu te ti el ella ello nosotros vosotros ellos ellas le les se su sus mis tus
        nuestro nuestra nuestros nuestras este esta estos estas ese esa esos esas aquel
        aquella quien quienes cual cuales cuyo cuando donde es soy eres somos son era
        eran fue fueron ser sido sera seran esta estan estaba estaban estar ha he has
        hemos han habia habian haber hay puede pueden podia debe deben muy mas tambien
        ya todo todos toda todas porque"""
    ),
}
"""Words that carry grammar rather than content."""

NEGATIONS: dict[str, frozenset[str]] = {
    "en": _set(
        """
        not n't no never none nobody nothing nowhere neither nor without cannot nought
        hardly scarcely"""
    ),
    "de": _set(
        """
        nicht nichts nie niemals niemand nirgends kein keine keinen keinem keiner
        keines ohne weder"""
    ),
    "fr": _set("pas jamais rien aucun aucune sans ni non nulle guere"),
    "es": _set("no nunca jamas nada nadie ningun ninguno ninguna ninguno sin ni tampoco"),
    "it": _set("non mai niente nulla nessuno nessuna nessun senza ne neppure"),
    "pt": _set("nao nunca jamais nada ninguem nenhum nenhuma sem nem"),
    "nl": _set("niet nooit niets niemand geen zonder noch"),
}
"""Words that turn a statement round."""

MONTHS: dict[str, tuple[str, ...]] = {
    "en": _list("""
        january february march april may june july august september october november
        december"""),
    "de": _list("""
        januar februar marz april mai juni juli august september oktober november
        dezember"""),
    "fr": _list("""
        janvier fevrier mars avril mai juin juillet aout septembre octobre novembre
        decembre"""),
    "es": _list("""
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre
        diciembre"""),
}
WEEKDAYS = _set("""
        monday tuesday wednesday thursday friday saturday sunday mondays tuesdays
        wednesdays thursdays fridays saturdays sundays montag dienstag mittwoch donnerstag
        freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes
        martes miercoles jueves viernes sabado domingo""")
"""Names of days: words that tell no more about a fact than a number does."""
SHORT_MONTHS = {
    **{name[:3]: number for number, name in enumerate(MONTHS["en"], 1)},
    "sept": 9,
}
"""English abbreviations; read as months only beside a day or a year."""
AMBIGUOUS_MONTHS = _set("march may mars mai")
"""Names of months that are also something else."""
MONTH_LEADS = _set(
    """
        in of since until till by from to last next early late mid this during before
        after im seit bis ab en desde hasta depuis de du le"""
)
"""A month of ambiguous name is one after these, if it has a capital letter."""

_EN_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DE_UNITS = """null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn
funfzehn sechzehn siebzehn achtzehn neunzehn"""
_DE_TENS = "zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig"
_FR_UNITS = (
    "zero . deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
)
_ES_UNITS = """cero . dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce
quince dieciseis diecisiete dieciocho diecinueve veinte"""


def _numbered(units: str, tens: str = "") -> dict[str, int]:
    table = {word: value for value, word in enumerate(units.split()) if word != "."}
    table.update(
        {word: value for value, word in zip(range(20, 100, 10), tens.split(), strict=False)}
    )
    return table


def _german_numbers() -> dict[str, int]:
    table = _numbered(_DE_UNITS, _DE_TENS)
    table["dreißig"] = 30
    ones = ["ein", *_DE_UNITS.split()[2:10]]
    for value, tens in zip(range(20, 100, 10), _DE_TENS.split(), strict=True):
        for one, name in enumerate(ones, 1):
            table[f"{name}und{tens}"] = value + one
    return table


CARDINALS: dict[str, dict[str, int]] = {
    "en": _numbered(_EN_UNITS, _EN_TENS),
    "de": _german_numbers(),
    "fr": {**_numbered(_FR_UNITS), "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50},
    "es": {**_numbered(_ES_UNITS), "treinta": 30, "cuarenta": 40, "cincuenta": 50},
}
"""Number words up to 99."""
_MAGNITUDES = {
    "en": "hundred 2 thousand 3 million 6 billion 9 trillion 12 bn 9 mn 6 mio 6 mrd 9",
    "de": "hundert 2 tausend 3 tsd 3 million 6 millionen 6 mio 6 milliarde 9 milliarden 9 mrd 9",
    "fr": "cent 2 mille 3 million 6 millions 6 milliard 9 milliards 9",
    "es": "cien 2 mil 3 millon 6 millones 6",
}
MAGNITUDES: dict[str, dict[str, int]] = {
    language: {
        word: int(power)
        for word, power in zip(entry.split()[::2], entry.split()[1::2], strict=True)
    }
    for language, entry in _MAGNITUDES.items()
}
"""Powers of ten that follow a number."""
ORDINALS = {
    word: number
    for number, word in enumerate(
        _list("""
        first second third fourth fifth sixth seventh eighth ninth tenth eleventh
        twelfth"""),
        1,
    )
}
ONES = _set("a one ein eine un une una")
"""Words for one; most are articles too, so they count only before a magnitude."""
DECADES = {
    "twenties": "1920s",
    "thirties": "1930s",
    "forties": "1940s",
    "fifties": "1950s",
    "sixties": "1960s",
    "seventies": "1970s",
    "eighties": "1980s",
    "nineties": "1990s",
}
DECIMAL_COMMA = _set("de fr es it pt nl sv da nb no fi pl cs sk ru uk tr el hu ro bg")
"""Languages that write 1,5 for one and a half."""

UNITS = {
    "%": "percent",
    "pct": "percent",
    "prozent": "percent",
    "$": "dollar",
    "£": "pound",
    "€": "euro",
    "¥": "yen",
    "₹": "rupee",
    "km": "kilometre",
    "kilometer": "kilometre",
    "kilometers": "kilometre",
    "kilometres": "kilometre",
    "cm": "centimetre",
    "centimeters": "centimetre",
    "centimetres": "centimetre",
    "mm": "millimetre",
    "meter": "metre",
    "meters": "metre",
    "metres": "metre",
    "kg": "kilogram",
    "kilograms": "kilogram",
    "kilos": "kilogram",
    "kilo": "kilogram",
    "g": "gram",
    "lb": "pound",
    "lbs": "pound",
    "pounds": "pound",
    "ft": "foot",
    "feet": "foot",
    "hr": "hour",
    "hrs": "hour",
    "mins": "minute",
    "min": "minute",
    "secs": "second_time",
    "sec": "second_time",
    "seconds": "second_time",
    "mph": "mph",
    "kph": "kph",
    "gb": "gb",
    "mb": "mb",
    "tb": "tb",
    "yr": "year",
    "yrs": "year",
}
"""Spellings of units, each with the one they are compared by."""
CURRENCIES = frozenset("$£€¥₹")
LENGTH_HEADS = _set("high tall long wide deep away from race sprint freestyle dash pool backstroke")
"""After these, `100m` is a length and not a million."""


@lru_cache(maxsize=64)
def quantity_openers(language: str) -> frozenset[str]:
    """Every word or symbol a number, unit or date may begin with, if not with a digit."""
    names = (MONTHS.get(language, MONTHS["en"]), SHORT_MONTHS, CARDINALS.get(language, ()))
    return frozenset({"per", "m"}.union(*names, ONES, ORDINALS, DECADES, UNITS))


_IRREGULAR = """
say said; go went gone goes; win won; make made; take took taken; give gave given; find found;
leave left; tell told; come came; become became; begin began begun; break broke broken;
bring brought; build built; buy bought; catch caught; choose chose chosen; draw drew drawn;
drive drove driven; eat ate eaten; fall fell fallen; feel felt; fight fought; fly flew flown;
forget forgot forgotten; grow grew grown; hear heard; hide hid hidden; hold held; keep kept;
know knew known; lead led; lose lost; mean meant; meet met; pay paid; ride rode ridden;
rise rose risen; run ran; see saw seen; sell sold; send sent; shoot shot; show shown;
sing sang sung; sit sat; sleep slept; speak spoke spoken; spend spent; stand stood;
steal stole stolen; strike struck; swim swam swum; teach taught; think thought;
throw threw thrown; understand understood; wear wore worn; write wrote written; bite bit bitten;
blow blew blown; burn burnt; deal dealt; drink drank drunk; freeze froze frozen;
shake shook shaken; sink sank sunk; stick stuck; swear swore sworn; tear tore torn;
wake woke woken; die died dying; lie lying; man men; woman women; child children; person people;
tooth teeth; mouse mice; wife wives; life lives
"""
IRREGULAR: dict[str, str] = {
    form: entry.split()[0] for entry in _IRREGULAR.split(";") for form in entry.split()[1:]
}
"""English forms that a stemmer cannot bring together."""

ELISIONS = _set("l d j m t s c n qu lorsqu jusqu puisqu dell all un nell sull dall")
"""Grammar words that lose their vowel before an apostrophe, in French, Italian and Catalan."""
