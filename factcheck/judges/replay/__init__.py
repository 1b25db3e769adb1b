"""Record and replay: cassettes of what judges answered, and judges that answer from them."""

from factcheck.judges.replay.cassette import CassetteReader, CassetteWriter
from factcheck.judges.replay.judges import (
    RecordingChecker,
    RecordingExtractor,
    ReplayChecker,
    ReplayExtractor,
)

__all__ = [
    "CassetteReader",
    "CassetteWriter",
    "RecordingChecker",
    "RecordingExtractor",
    "ReplayChecker",
    "ReplayExtractor",
]
