"""Files of weights, which must be those that the version of the embedded judge covers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from factcheck.errors import ConfigError

if TYPE_CHECKING:
    from importlib.abc import Traversable


def read_weights(folder: Traversable, name: str) -> bytes:
    """Read a file that is listed in the `SHA256SUMS` of its folder.

    Raises:
        ConfigError: It cannot be read, or is another.
    """
    try:
        sums = (folder / "SHA256SUMS").read_text("utf-8").split()
        data = (folder / name).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the weights {name} of the embedded judge cannot be read ({error.strerror}); "
            "reinstall factcheck"
        ) from error
    if (hashlib.sha256(data).hexdigest(), name) not in zip(sums[::2], sums[1::2], strict=False):
        raise ConfigError(
            f"the weights {name} of the embedded judge were damaged or replaced, so their verdicts "
            "would not be those of its version; reinstall factcheck"
        )
    return data
