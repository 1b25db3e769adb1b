"""English words by which a clause is recognised without a parser: verbs and what is around them.

A guess is wrong more often than it is right for an arbitrary word, so verbs are only what these
tables list, or a past form that is followed by what follows verbs.
"""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text that white space separates."""
    return frozenset(text.split())


AUXILIARIES = word_set("is was are were has have had will can did does do")
FORMS_OF_BE = word_set("is was are were be been being")
IRREGULAR_PAST = word_set(
    """
    became began bought broke brought built came caught chose drew drove fell felt flew fought found
    gave got grew held hid hit kept knew laid led left lent lost made meant met overcame oversaw
    paid put ran rose said sang sank sat saw sent set shook shot slept sold spent spoke spread stole
    stood struck swam taught thought threw told took understood underwent went withdrew won wore
    wrote
    """
)
ONLY_PAST = word_set(
    """
    became began came chose drew drove fell flew gave grew knew ran rose sang saw spoke stole swam
    took threw went wore wrote underwent withdrew oversaw
    """
)
"""Those of them that are no participles as well."""
PRESENT = word_set(
    """
    appears attends becomes begins belongs comes consists contains continues covers describes
    employs ends explores features focuses follows gives grows helps holds includes involves lies
    lives makes manages moves needs offers operates owns plays produces provides receives remains
    represents requires runs serves sits speaks specializes stands starts studies supports takes
    teaches tells throws trains uses wants weighs wins works writes
    """
)
NOT_PAST = word_set(
    """
    bed breed feed hundred indeed kindred need red seed shed speed united weed wicked sacred
    """
)
"""Words that end like a regular past form and are none."""
REPORTING = word_set(
    """
    accuse accused accuses according admitted agreed allege alleged allegedly alleges announced
    announces apparently appeared appears argue argued argues ask asked asks assume assumed believe
    believed believes claim claimed claims concluded confirmed consider considered considers deny
    denied denies doubt doubted doubts estimate estimated expect expected expects failed fear feared
    fears feel felt feels found hope hoped hopes imagine imagined insist insisted insists intended
    intends know knew knows likely mentioned noted perhaps plan planned plans possibly predict
    predicted predicts presumably pretended probably promise promised promises propose proposed
    refused report reported reportedly reports rumoured rumored said saw say says see seem seemed
    seems show showed shows states stated stressed suggest suggested suggests supposed supposedly
    suspect suspected suspects tell tells think thinks thought told tried try want wanted wants warn
    warned warns wish wished wrote
    """
)
"""Words after which something is said, believed or tried rather than so."""
HEDGES = word_set(
    """
    if unless whether would could might may should must cannot or nor either neither both not never
    no none nobody nothing hardly barely scarcely without n't only than rather instead respectively
    each other together what who's
    """
)
"""Words whose scope a split could change."""
SUBORDINATORS = word_set(
    """
    that which who whom whose where when while whereas because since although though until after
    before as so how why once lest whenever wherever
    """
)
ALSO_PREPOSITIONS = word_set("since until after before as")
"""Subordinators that open no clause if there is no verb after them."""
PRONOUNS = word_set("he she it they we i you this these those there")
DETERMINERS = word_set("the a an his her its their our my your this that these those")
AFTER_VERBS = DETERMINERS | word_set(
    """
    to in at for from with on into against over through across about under after before until as up
    out off down back away him them it me us himself herself itself themselves several many some all
    more one two three four five six seven eight nine ten
    """
)
"""What follows a verb, and seldom a participle that stands before its noun."""
ADVERBS = word_set("also then later still now once soon often always again thus")
SEQUENCE = word_set("then later subsequently eventually since afterwards finally")
"""Adverbs that put a clause at another time than the one before it."""
NAME_LIST_HEADS = word_set("for in with at by alongside including like featuring as")
"""Words after which a list of names may be told one by one."""
NAME_PARTICLES = word_set("of the de la van von der al del di da du y")
NUMBER_WORDS = word_set(
    """
    two three four five six seven eight nine ten eleven twelve dozen half total combined
    """
)
