"""Small closed tables the pair judge reads by: what stands before or after a name, and codes.

Every entry is folded: lower case, without accents. Units of measure have a table of their own, in
`pair_units`.
"""

from __future__ import annotations

from functools import lru_cache

from factcheck.judges.local.lexicon import NEGATIONS


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in text.split(","))


ARTICLES = _set("the a an")
FOREIGN_ARTICLES = _set("der die das den dem des ein eine le la les l un une el los las il lo")
"""Dropped only where they open a value in lower case: `die Brücke`, but `Die Hard`."""

LEGAL_FORMS = {
    **{
        form: form
        for form in _set(
            """
            inc corp co ltd llc llp lp plc gmbh ag kg kgaa ohg ug se sa sas sarl srl spa bv nv ab
            oy oyj asa aps pty pvt mbh eg ev kk pte"""
        )
    },
    "incorporated": "inc",
    "corporation": "corp",
    "company": "co",
    "limited": "ltd",
    "aktiengesellschaft": "ag",
    "private": "pvt",
}
"""How the legal form of a company is written at the end of its name, and its short form."""

TITLES = _set(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend herr frau dipl ing
    monsieur madame mademoiselle m mme mlle senor senora don dona signor signora hon president king
    queen prince princess pope saint st general gen captain capt colonel col major maj sergeant sgt
    lieutenant lt emperor empress tsar czar duke duchess count countess baron baroness earl
    chancellor senator sen judge justice minister father sister brother mother"""
)
"""Said before a name without making it another one."""

LABELS = _set(
    """
    invoice rechnung order bestellung id isbn issn doi sn serial ref reference model vat ust idnr
    iban bic po account acct konto case file ticket tracking ph part item art version version code
    number nummer num no nr page pages seite p pp s section chapter kapitel"""
)
"""Said before a number or a code, they say what it is the number of."""

DEGREES = _set("phd md mba msc bsc ma ba jr sr esq obe mbe cbe kbe frs dds jd llm llb")
"""Said behind a name likewise."""

CLASS_NOUNS = _set(
    """
    film movie album song single novel book play series show programme program sitcom magazine
    newspaper band group team club fc cf afc company brand river racecourse stadium airport"""
)
"""Beside a name, they say what it is the name of."""

PRIVATIVES = _set(
    """
    non not no never without former formerly ex anti fake pseudo quasi vice deputy assistant acting
    sub co pre post alleged allegedly suspected supposed possible possibly probable probably maybe
    perhaps almost nearly partly partially half semi un counter mock ehemalige ehemaliger ehemals
    stellvertretender stellvertretende ohne nicht kein keine ancien ancienne sans pas"""
)
"""Said before a word, they make it something else rather than more specific."""

GRAMMAR = _set(
    """
    the a an of and or in on at by for from to with into onto as than but if then it its is are was
    were be been this that these those der die das den dem des ein eine einen einem einer eines und
    oder von in im am an auf fur zu zur zum mit le la les l un une des du de d et ou en el los las
    unos unas del al y o e i s"""
)
"""Function words that tell nothing, whatever their case; others are part of a name if they have a
capital letter (`Will Smith`, `The Who`)."""

PLACE_MODIFIERS = _set(
    """
    new old north south east west northern southern eastern western central upper lower great
    greater little san santa sankt saint st los las el la mount mt lake port fort cape nord sud ost
    neu"""
)
"""Before the name of a place, they make it another place: `York`, `New York`."""

DENIALS = tuple(sorted(frozenset().union(*NEGATIONS.values())))
"""Words that turn a statement round, of any language, in a fixed order."""

OPPOSITES = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("before until vor", "after since nach"),
        ("with mit avec con including inclusive", "without ohne sans sin excluding exclusive"),
        ("in inside within", "out outside"),
        ("on", "off"),
        ("up", "down"),
        ("over above", "under below beneath"),
        ("more most", "less least fewer fewest"),
        ("for", "against"),
        ("any some", "none"),
        ("all every", "some few"),
        ("from", "to"),
        ("and und et", "or oder ou"),
    )
)
"""Grammar words that turn a value round."""

EXCEPTIONS = _set("except ausser sauf salvo excepto")
"""Grammar words that take out what follows."""
HEDGES = _set("may might could")
"""Grammar words that make a fact a possibility."""

ABBREVIATIONS = {
    abbreviation: frozenset(meanings.split())
    for abbreviation, meanings in (
        ("st", "street saint sankt strasse"),
        ("str", "street strasse"),
        ("ave", "avenue"),
        ("av", "avenue avenida"),
        ("rd", "road"),
        ("blvd", "boulevard"),
        ("ln", "lane"),
        ("dr", "drive doctor doktor"),
        ("sq", "square"),
        ("pl", "place platz"),
        ("ct", "court"),
        ("hwy", "highway"),
        ("apt", "apartment"),
        ("mt", "mount mountain"),
        ("ft", "fort feet foot"),
        ("dept", "department"),
        ("univ", "university universitat universite"),
        ("intl", "international"),
        ("natl", "national"),
        ("govt", "government"),
        ("mgr", "manager"),
        ("mgmt", "management"),
        ("sr", "senior"),
        ("jr", "junior"),
        ("asst", "assistant"),
        ("eng", "engineer engineering english"),
        ("dev", "developer development"),
        ("vp", "vicepresident"),
        ("qty", "quantity"),
        ("p", "page"),
        ("pp", "pages"),
        ("sec", "section"),
        ("pcs", "pieces"),
        ("pc", "piece"),
        ("no", "number"),
        ("nr", "number nummer"),
        ("tel", "telephone telefon"),
        ("approx", "approximately"),
        ("vs", "versus"),
        ("bros", "brothers"),
        ("mfg", "manufacturing"),
        ("rev", "reverend revised revision"),
        ("prof", "professor"),
        ("gen", "general"),
        ("capt", "captain"),
        ("col", "colonel"),
        ("sgt", "sergeant"),
        ("lt", "lieutenant"),
        ("sen", "senator"),
        ("pt", "part point"),
        ("vol", "volume"),
        ("ed", "edition editor"),
        ("fl", "floor"),
        ("n", "north and"),
        ("s", "south"),
        ("e", "east"),
        ("w", "west"),
        ("med", "medical medicine"),
    )
}
"""What common short forms stand for, with or without their full stop."""

YES = _phrases("yes,y,true,ja,oui,si,vrai,wahr,correct,richtig,checked,✓,✔,sim,verdadero")
NO = _phrases(
    "no,n,none,nothing,nichts,rien,nada,false,nein,non,faux,falsch,incorrect,unchecked,✗,✘,nao,falso"
)
ABSENT = _phrases(
    """
    null,none,nil,nan,n a,na,not available,not applicable,not given,not provided,not stated,
    not specified,not mentioned,no data,empty,missing,undefined,keine angabe,keine angaben,k a,
    entfallt,nicht vorhanden,nicht angegeben,aucun,aucune,non disponible,non precise,sans objet,
    ninguno,ninguna,no disponible,no aplica,tbd"""
)
"""Ways to say that there is no value, as normal forms."""

UNKNOWN = _phrases("unknown,not known,unclear,unbekannt,nicht bekannt,inconnu,inconnue,desconocido")
"""Ways to say that nobody knows."""

_COUNTRIES = """
us usa: united states, united states of america, america, vereinigte staaten, etats unis,
  estados unidos
gb uk gbr: united kingdom, great britain, britain, vereinigtes konigreich, royaume uni
de deu ger: germany, deutschland, allemagne, alemania, federal republic of germany
fr fra: france, frankreich, francia
es esp: spain, spanien, espagne, espana
it ita: italy, italien, italie, italia
nl nld: netherlands, the netherlands, holland, niederlande, pays bas
be bel: belgium, belgien, belgique
ch che sui: switzerland, schweiz, suisse, svizzera
at aut: austria, osterreich, autriche
dk dnk: denmark, danemark, danmark
se swe: sweden, schweden, suede, sverige
no nor: norway, norwegen, norvege, norge
fi fin: finland, finnland, finlande, suomi
ie irl: ireland, republic of ireland, irland, irlande
pt prt: portugal
pl pol: poland, polen, pologne, polska
cz cze: czech republic, czechia, tschechien, republique tcheque
sk svk: slovakia, slowakei
hu hun: hungary, ungarn, hongrie
ro rou: romania, rumanien, roumanie
bg bgr: bulgaria, bulgarien
gr grc: greece, griechenland, grece
tr tur: turkey, turkei, turquie, turkiye
ua ukr: ukraine
ru rus: russia, russian federation, russland, russie
cn chn: china, people s republic of china, prc, chine
jp jpn: japan, japon
kp prk: north korea
kr kor: south korea, republic of korea, sudkorea
in ind: india, indien, inde
au aus: australia, australien, australie
nz nzl: new zealand, neuseeland
ca can: canada, kanada
mx mex: mexico, mexiko, mexique
br bra: brazil, brasilien, bresil, brasil
ar arg: argentina, argentinien
za zaf rsa: south africa, sudafrika
ae are uae: united arab emirates
sa sau ksa: saudi arabia
il isr: israel
eg egy: egypt, agypten, egypte
sg sgp: singapore, singapur
eu: european union, europaische union, union europeenne
"""
_STATES = """
al alabama; ak alaska; az arizona; ar arkansas; ca california; co colorado; ct connecticut;
de delaware; fl florida; ga georgia; hi hawaii; id idaho; il illinois; in indiana; ia iowa;
ks kansas; ky kentucky; la louisiana; me maine; md maryland; ma massachusetts; mi michigan;
mn minnesota; ms mississippi; mo missouri; mt montana; ne nebraska; nv nevada; nh new hampshire;
nj new jersey; nm new mexico; ny new york; nc north carolina; nd north dakota; oh ohio; ok oklahoma;
or oregon; pa pennsylvania; ri rhode island; sc south carolina; sd south dakota; tn tennessee;
tx texas; ut utah; vt vermont; va virginia; wa washington; wv west virginia; wi wisconsin;
wy wyoming; dc district of columbia
"""


@lru_cache(maxsize=1)
def places() -> dict[str, frozenset[str]]:
    """What the codes and names of countries and of states of the US stand for, by normal form.

    A code may stand for two of them (`de`, `ca`), so that names are the same if they share one.
    """
    meant: dict[str, set[str]] = {}
    for line in _joined_lines(_COUNTRIES):
        codes, _, names = line.partition(":")
        for name in (*codes.split(), *(part.strip() for part in names.split(","))):
            if name:
                meant.setdefault(name, set()).add(codes.split()[0])
    for entry in " ".join(_STATES.split()).split(";"):
        code, _, name = entry.strip().partition(" ")
        for key in (code, name):
            meant.setdefault(key, set()).add(f"us-{code}")
    return {name: frozenset(codes) for name, codes in meant.items()}


def _joined_lines(text: str) -> list[str]:
    """The lines of a table; one that is indented goes on with the line before."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return lines
