"""Old names of what lives in `text`."""

from factcheck.reports.text import LONGEST_VALUE as LONGEST
from factcheck.reports.text import shorten_middle as shortened
from factcheck.reports.text import shorten_pair as shortened_pair
from factcheck.reports.text import value_text, visible

__all__ = ["LONGEST", "shortened", "shortened_pair", "value_text", "visible"]
