"""What runs over cards and over behaviors have in common: a lossless JSON form, marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from factcheck.documents import from_plain, shown, to_plain
from factcheck.errors import InputError
from factcheck.reports.report import Report

if TYPE_CHECKING:
    from typing_extensions import Self


class KeywordRun(Report):
    """A run over cases with ids, some of which may be errored."""

    __slots__ = ()
    FORMAT: ClassVar[str]
    digests: Mapping[str, str]
    """By case id, in order: digest of what is expected; runs are comparable only if they agree."""

    @property
    def case_ids(self) -> list[str]:
        """Ids of all cases, scored or not."""
        raise NotImplementedError

    @property
    def case_scores(self) -> dict[str, float]:
        """Of each scored case, in [0, 1]."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        if not self.digests or sorted(self.case_ids) != sorted(self.digests):
            raise InputError("run: no cases, or not those of its digests; damaged run")

    def to_dict(self) -> dict[str, Any]:
        return {"format": self.FORMAT, **to_plain(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Raises:
            InputError: Not such a run, or one of another format version.
        """
        found = data.get("format") if isinstance(data, Mapping) else data
        if found != cls.FORMAT:
            raise InputError(f"run: expected format {cls.FORMAT!r}, got {shown(found)}")
        return from_plain(cls, data, "run")
