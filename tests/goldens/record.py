"""Records goldens anew, on purpose: `python -m tests.goldens.record NAME...`, or `--all`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tests.goldens import api, running
from tests.goldens.commands import RUNS

GOLDENS: Mapping[str, Callable[[], str]] = {
    **{name: partial(running.record, run) for name, run in RUNS.items()},
    **{name: partial(api.record, make) for name, make in api.RESULTS.items()},
}


def main(names: Sequence[str]) -> None:
    """Write the named goldens; without a name, list them."""
    unknown = set(names) - {"--all"} - set(GOLDENS)
    if not names or unknown:
        what = f"no golden is called {', '.join(sorted(unknown))}" if unknown else __doc__
        sys.exit(f"{what}\n" + "\n".join(GOLDENS))
    for name in GOLDENS if "--all" in names else names:
        (running.RECORDED / f"{name}.txt").write_bytes(GOLDENS[name]().encode())


if __name__ == "__main__":
    main(sys.argv[1:])
