"""Record and replay: what judges answered, kept in a file, and judges that answer from it."""

from factcheck.judges.replay.cassette import CassetteReader, CassetteWriter
from factcheck.judges.replay.recording import RecordingChecker, RecordingExtractor
from factcheck.judges.replay.replaying import ReplayChecker, ReplayExtractor, parse_spec

__all__ = [
    "CassetteReader",
    "CassetteWriter",
    "RecordingChecker",
    "RecordingExtractor",
    "ReplayChecker",
    "ReplayExtractor",
    "parse_spec",
]
