"""Results in a Jupyter kernel: a short text form and a page, both shown by the notebook itself."""

from __future__ import annotations

import pytest

nbformat = pytest.importorskip("nbformat", reason="needs nbformat, nbclient and ipykernel")
nbclient = pytest.importorskip("nbclient", reason="needs nbformat, nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="needs nbformat, nbclient and ipykernel")

CELLS = (
    (
        "import factcheck\n"
        "from factcheck.scoring.run_report import RunReport\n"
        "source = 'The lake is deep. Boats cross it.'\n"
        "report = factcheck.score(source, '<b>The lake is deep.', judge='local-fast')\n"
        "report"
    ),
    "RunReport({'first': report})",
    "report.to_pandas().shape, len(report.facts), report.to_html()[:15], repr(report)",
)


@pytest.mark.filterwarnings("ignore")
def test_results_in_a_kernel() -> None:
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, CELLS)])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    report, run, last = (cell["outputs"][-1]["data"] for cell in notebook["cells"])
    for shown, title in ((report, "Coverage"), (run, "Mean coverage")):
        assert title in shown["text/plain"]
        assert len(shown["text/plain"]) < 200
        assert shown["text/html"].startswith("<iframe")
        assert title in shown["text/html"]
        assert "<script" not in shown["text/html"]
    assert last["text/plain"].startswith("((2, 17),\n 2,\n '<!doctype html>'")
