"""Forms of English verbs: `helping`, `helped`, `helps`."""

from __future__ import annotations

import re
from functools import lru_cache

_VOWELS = "aeiou"
_IRREGULAR = """
    be:was beat:beat become:became begin:began bend:bent bet:bet bind:bound bite:bit bleed:bled
    blow:blew break:broke breed:bred bring:brought build:built burst:burst buy:bought cast:cast
    catch:caught choose:chose cling:clung come:came cost:cost creep:crept cut:cut deal:dealt dig:dug
    do:did draw:drew drink:drank drive:drove eat:ate fall:fell feed:fed feel:felt fight:fought
    find:found flee:fled fly:flew forbid:forbade forget:forgot forgive:forgave freeze:froze get:got
    give:gave go:went grow:grew hang:hung have:had hear:heard hide:hid hit:hit hold:held hurt:hurt
    keep:kept know:knew lay:laid lead:led leave:left lend:lent let:let lie:lay lose:lost make:made
    mean:meant meet:met overcome:overcame oversee:oversaw overtake:overtook pay:paid put:put
    quit:quit read:read ride:rode ring:rang rise:rose run:ran say:said see:saw seek:sought sell:sold
    send:sent set:set shake:shook shine:shone shoot:shot show:showed shut:shut sing:sang sink:sank
    sit:sat sleep:slept slide:slid speak:spoke spend:spent split:split spread:spread stand:stood
    steal:stole stick:stuck strike:struck swear:swore sweep:swept swim:swam swing:swung take:took
    teach:taught tear:tore tell:told think:thought throw:threw undergo:underwent
    understand:understood undertake:undertook wake:woke wear:wore weave:wove win:won
    withdraw:withdrew write:wrote
"""
_PAST = dict(pair.split(":") for pair in _IRREGULAR.split())


@lru_cache(maxsize=4096)
def base_of_ing(word: str) -> str:
    """The plain form of a present participle: of its possible spellings the most common word."""
    from wordfreq import zipf_frequency

    stem = word[:-3]
    spellings = [stem + "e", stem]
    if re.search(r"([bdgklmnprtz])\1\Z", stem):
        spellings.append(stem[:-1])
    if word.endswith("ying"):
        spellings.append(stem[:-1] + "ie")
    return max(spellings, key=lambda spelling: zipf_frequency(spelling, "en"))


def past(base: str) -> str:
    """The simple past."""
    if base in _PAST:
        return _PAST[base]
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", base) or base.endswith(("mit", "fer", "pel")):
        return base + base[-1] + "ed"
    return base + "ed"


def is_past(word: str) -> bool:
    """Whether a verb looks like a simple past."""
    return word.endswith("ed") or word in _PAST.values()
