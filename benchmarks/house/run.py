"""Measures the house itself: its size, its circles, and what one offline score goes through.

    python benchmarks/house/run.py [CHECKOUT ...]

One column per checkout; without any, this one. The interpreter of this script runs all of them.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType

HERE = Path(__file__).resolve()
GOALS = {
    "files": "170",
    "lines": "34,000",
    "import circles": "0",
    "test lines": "24,000",
    "comprehensions in 1,000 lines": "25",
    "conditional expressions in 1,000 lines": "15",
    "offline score: files": "25",
    "offline score: functions": "120",
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CO_OPTIMIZED = 1  # of functions, not of modules and class bodies
SOURCE = "The Aurora left Bergen on 3 May 2023 with 412 passengers."
SUMMARY = "On 3 May, 421 people sailed from Bergen on the Aurora."
Step = tuple[str, str, int]
"""File within the package, function and first line."""


def main() -> None:
    """Measure the checkouts that are named, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[HERE.parents[2]])
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(probe()))
        return
    columns = {}
    for checkout in map(Path.resolve, options.checkouts):
        columns[checkout.name] = {**structure(checkout), **ways(checkout)}
    print("\n".join(table(columns)))


def table(columns: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the lines of a Markdown table, a column for each checkout."""
    yield " | ".join(("| what", *columns, "goal |"))
    yield "|---|" + "---:|" * (len(columns) + 1)
    for row in next(iter(columns.values())):
        cells = [f"{column[row]:,}" for column in columns.values()]
        yield " | ".join((f"| {row}", *cells, f"{GOALS.get(row, '')} |"))


def structure(checkout: Path) -> dict[str, int]:
    """Read off the files what can be."""
    modules: dict[str, ast.Module] = {}
    n_lines = 0
    for path in sorted((checkout / "factcheck").rglob("*.py")):
        parts = path.relative_to(checkout).with_suffix("").parts
        text = path.read_text("utf-8")
        n_lines += text.count("\n")
        modules[".".join(parts).removesuffix(".__init__")] = ast.parse(text)
    nodes = [node for module in modules.values() for node in ast.walk(module)]

    def n_of(*kinds: type[ast.AST]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    tests = (checkout / "tests").rglob("*.py")
    return {
        "files": len(modules),
        "lines": n_lines,
        "functions": n_of(ast.FunctionDef, ast.AsyncFunctionDef),
        "classes": n_of(ast.ClassDef),
        "comprehensions in 1,000 lines": round(1000 * n_of(*COMPREHENSIONS) / n_lines),
        "conditional expressions in 1,000 lines": round(1000 * n_of(ast.IfExp) / n_lines),
        "import circles": len(circles(imports(modules))),
        "test lines": sum(path.read_text("utf-8").count("\n") for path in tests),
    }


def imports(modules: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return which modules each one imports, in functions and under `TYPE_CHECKING`, too."""
    graph: dict[str, set[str]] = {}
    for name, module in modules.items():
        found: set[str] = set()
        for node in ast.walk(module):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                dotted = {f"{node.module}.{alias.name}" for alias in node.names}
                found |= dotted & modules.keys()
                if not dotted <= modules.keys():
                    found.add(str(node.module))
        graph[name] = found & modules.keys() - {name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return groups of modules that reach each other: strongly connected components."""
    reached = {name: _reachable(graph, name) for name in graph}
    groups = set()
    for name, others in reached.items():
        groups.add(frozenset(other for other in others if name in reached[other]))
    return {group for group in groups if len(group) > 1}


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen


def ways(checkout: Path) -> dict[str, int]:
    """Return what one offline score goes through."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FACTCHECK_")}
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(  # noqa: S603 - our own script
            [sys.executable, str(HERE), "--probe"],
            env={**kept, "PYTHONPATH": str(checkout), "FACTCHECK_CACHE_DIR": cache},
            stdout=subprocess.PIPE,
            check=True,
        )
    found: dict[str, int] = json.loads(done.stdout)
    return found


def probe() -> dict[str, int]:
    """Follow one score in this process."""
    import factcheck

    home = str(Path(factcheck.__file__).parent) + os.sep
    entered: set[Step] = set()
    threads: set[int] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (found := step(frame.f_code, home)) is not None:
            entered.add(found)
            threads.add(threading.get_ident())

    threading.setprofile(note)
    sys.setprofile(note)
    factcheck.score(SOURCE, SUMMARY)
    sys.setprofile(None)
    threading.setprofile(None)
    steps = [*entered]  # threads that run go on noting
    return {
        "public names": sum(not name.startswith("_") for name in dir(factcheck)),
        "offline score: files": len({file for file, _, _ in steps}),
        "offline score: functions": len(steps),
        "offline score: threads": len(threads),
    }


def step(code: CodeType, home: str) -> Step | None:
    """Return the step a code object stands for, if it is a function of the package."""
    name = code.co_filename
    own = name.startswith(home) and not name.startswith(f"{home}testing{os.sep}")
    if not own or not code.co_flags & CO_OPTIMIZED or code.co_name.startswith("<"):
        return None
    return name.removeprefix(home), code.co_name, code.co_firstlineno


if __name__ == "__main__":
    main()
