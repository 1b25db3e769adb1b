"""Measures the house itself: its size, its circles, and the way from `score` to a verdict.

    python benchmarks/house/run.py [CHECKOUT ...] [--steps] [--cold] [--install]

One column per checkout; without any, this one. A checkout's own `.venv` runs its code where it has
one, else the interpreter of this script.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SMALL = 60
COLD_STARTS = 5
GOALS = {
    "files": "230",
    "lines": "36,000",
    "modules under 60 lines": "30",
    "import circles": "0",
    "layer exceptions": "0",
    "test lines": "28,000",
    "model: own functions from score to request": "15",
}
Tree = Mapping[str, tuple[Path, ast.Module]]
"""Modules by name: where they are, and what they say."""


def modules(checkout: Path) -> Tree:
    """Every module of the package."""
    found = {}
    for path in sorted((checkout / "factcheck").rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = (path, ast.parse(path.read_text("utf-8")))
    return found


def imports(tree: Tree) -> dict[str, set[str]]:
    """Which modules each module imports, in functions and under `TYPE_CHECKING`, too."""
    graph: dict[str, set[str]] = {name: set() for name in tree}
    for name, (_, module) in tree.items():
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                dotted = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[name] |= (dotted & set(tree)) or {str(node.module)}
                if not dotted <= set(tree):
                    graph[name].add(str(node.module))
        graph[name] &= set(tree) - {name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of two or more modules that reach each other: strongly connected components."""
    reached = {name: _reachable(graph, name) for name in graph}
    groups = {
        frozenset(other for other in reached[name] if name in reached[other]) for name in graph
    }
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def defined(module: ast.Module) -> set[str]:
    """Public classes, functions and constants that a module defines at its top level."""
    names: set[str] = set()
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def exceptions(checkout: Path) -> int:
    """Entries of EXCEPTIONS in the layer test."""
    tree = ast.parse((checkout / "tests/meta/test_layers.py").read_text("utf-8"))
    for node in tree.body:
        if (
            isinstance(node, ast.Assign)
            and any(isinstance(each, ast.Name) and each.id == "EXCEPTIONS" for each in node.targets)
            and isinstance(node.value, (ast.Set, ast.List, ast.Tuple))
        ):
            return len(node.value.elts)
    return 0


def n_lines(path: Path) -> int:
    """Lines of a file, blank ones too."""
    return len(path.read_text("utf-8").splitlines())


def structure(checkout: Path) -> dict[str, int]:
    """What can be read off the files."""
    tree = modules(checkout)
    nodes = [node for _, module in tree.values() for node in ast.walk(module)]
    homes = Counter(name for _, module in tree.values() for name in defined(module))
    lengths = [n_lines(path) for path, _ in tree.values()]
    return {
        "files": len(tree),
        "lines": sum(lengths),
        "functions": sum(isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) for n in nodes),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        "modules under 60 lines": sum(length < SMALL for length in lengths),
        "import circles": len(circles(imports(tree))),
        "layer exceptions": exceptions(checkout),
        "names defined in two or more modules": sum(count > 1 for count in homes.values()),
        "test lines": sum(n_lines(path) for path in (checkout / "tests").rglob("*.py")),
    }


def interpreter(checkout: Path) -> str:
    """The checkout's own Python, or this one."""
    own = checkout / ".venv/bin/python"
    return str(own) if own.exists() else sys.executable


def environment(checkout: Path) -> dict[str, str]:
    """An environment in which `factcheck` is the checkout's, and nothing of the user's counts."""
    foreign = ("FACTCHECK_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return {**kept, "PYTHONPATH": str(checkout)}


def ways(checkout: Path, *, show_steps: bool) -> dict[str, int]:
    """What one score goes through, offline and with a model."""
    done = subprocess.run(  # noqa: S603 - our own script
        [interpreter(checkout), str(HERE / "probe.py")],
        env=environment(checkout),
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    if show_steps:
        print(f"{checkout}: from score to the request")
        for place, (file, function, line) in enumerate(found["model"], start=1):
            print(f"{place:>4}  {file}:{line} {function}")
    return {
        "public names": found["public"],
        "offline score: files": found["offline"]["files"],
        "offline score: functions, classes, modules": found["offline"]["code"],
        "offline score: functions alone": found["offline"]["functions"],
        "offline score: threads": found["offline"]["threads"],
        "model: own functions from score to request": len(found["model"]),
        "model: files from score to request": len({file for file, _, _ in found["model"]}),
    }


def cold_starts(checkout: Path) -> dict[str, int]:
    """Milliseconds of a fresh process, the median of some."""
    samples = checkout / "factcheck" / "samples"
    texts = [str(samples / "harbour.txt"), str(samples / "harbour_summary.txt")]
    commands = {
        "python -c pass, ms": ["-c", "pass"],
        "import factcheck, ms": ["-c", "import factcheck"],
        "factcheck --help, ms": ["-m", "factcheck", "--help"],
        "factcheck score, ms": ["-m", "factcheck", "score", *texts],
    }
    return {name: _median_ms(checkout, command) for name, command in commands.items()}


def _median_ms(checkout: Path, arguments: Sequence[str]) -> int:
    taken = []
    for _ in range(COLD_STARTS + 1):  # the first one compiles
        start = time.perf_counter()
        subprocess.run(  # noqa: S603 - our own code
            [interpreter(checkout), *arguments],
            env=environment(checkout),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        taken.append(time.perf_counter() - start)
    return round(1000 * statistics.median(taken[1:]))


def installation(checkout: Path) -> dict[str, int]:
    """Size and distributions of `pip install CHECKOUT` in an empty environment; needs an index."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)  # noqa: S603 - ours
        python = Path(folder, "bin", "python")
        pip = [str(python), "-m", "pip", "-qq", "--disable-pip-version-check"]
        (packages,) = Path(folder).glob("lib/python*/site-packages")
        before, there = _size(packages), _distributions(packages)
        subprocess.run([*pip, "install", str(checkout)], check=True)  # noqa: S603 - ours
        return {
            "distributions": _distributions(packages) - there,
            "installed, MB": round((_size(packages) - before) / 1e6),
        }


def _distributions(folder: Path) -> int:
    return sum(1 for _ in folder.glob("*.dist-info"))


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def measured(checkout: Path, options: argparse.Namespace) -> dict[str, int]:
    """Every row of one column."""
    rows = {**structure(checkout), **ways(checkout, show_steps=options.steps)}
    if options.cold:
        rows |= cold_starts(checkout)
    if options.install:
        rows |= installation(checkout)
    return rows


def table(columns: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """The lines of a Markdown table, a column for each checkout."""
    yield " | ".join(("| what", *columns, "goal |"))
    yield "|---|" + "---:|" * (len(columns) + 1)
    for row in next(iter(columns.values())):
        cells = [f"{column[row]:,}" for column in columns.values()]
        yield " | ".join((f"| {row}", *cells, f"{GOALS.get(row, '')} |"))


def main() -> None:
    """Measure the checkouts that are named, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[HERE.parents[1]])
    parser.add_argument("--steps", action="store_true", help="list the way to the request")
    parser.add_argument("--cold", action="store_true", help="time fresh processes")
    parser.add_argument("--install", action="store_true", help="install into an empty environment")
    options = parser.parse_args()
    paths = [checkout.resolve() for checkout in options.checkouts]
    columns = {path.name: measured(path, options) for path in paths}
    print("\n".join(table(columns)))


if __name__ == "__main__":
    main()
