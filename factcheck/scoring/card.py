"""A judge's card: what `factcheck trust` measured of a judge, for reports to cite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from factcheck.documents import PathOrDash, PlainData, parse_json, read_text, shown
from factcheck.errors import InputError
from factcheck.facts import ScoreSignature

CARD_FORMAT = 1
_LEARNED = "default"
"""Value of a setting in a signature before a model has shown that it takes another."""


@dataclass(frozen=True, slots=True)
class JudgeCard(PlainData):
    """What a report cites of a measurement; the file of `factcheck trust --card` has more."""

    signature: str
    """Of the judge alone, with how its model is asked and the version of this package."""
    created: str
    """Date (UTC)."""
    texts: str
    """What it was measured on."""
    conclusion: str
    format: int = CARD_FORMAT

    @classmethod
    def read(cls, path: PathOrDash) -> JudgeCard:
        """Read a card that `factcheck trust --card` wrote.

        Raises:
            InputError: The file cannot be read, or is not a card of this format.
        """
        data = parse_json(read_text(path), str(path)).value
        if not isinstance(data, Mapping) or "conclusion" not in data:
            raise InputError(f"{path}: not a judge's card; 'factcheck trust --card FILE' makes one")
        if data.get("format") != CARD_FORMAT:
            raise InputError(f"{path}: format {shown(data.get('format'))} is not {CARD_FORMAT}")
        card = cls.from_dict(data)
        ScoreSignature.parse(card.signature)
        return card

    def require(self, judge: ScoreSignature) -> None:
        """Refuse the card of another judge, or of another version of it, by an `InputError`.

        Settings that a model has not shown to take yet are no difference.
        """
        changes = ScoreSignature.parse(self.signature).changes(judge)
        for name, values in changes.items():
            if _LEARNED not in values:
                was, now = values
                raise InputError(
                    f"the card is of another judge or version: {name} {was}, not {now}; "
                    "make one with 'factcheck trust --card FILE'"
                )

    @property
    def quality(self) -> str:
        """What a report of this judge says of it."""
        return f"{self.conclusion} Measured on {self.created}; {self.texts}."
