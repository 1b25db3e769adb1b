"""Settings of the documentation site: `python -m sphinx -c docs/site . build/site`."""  # noqa: INP001 - for Sphinx

from importlib.metadata import version as version_of

project = "factcheck"
copyright = "The factcheck authors"  # noqa: A001 - the name that Sphinx reads
version = release = version_of("summary-factcheck")
root_doc = "docs/site/index"
include_patterns = ["*.md", "docs/**.md", "benchmarks/**.md", "factcheck/*/README.md"]
exclude_patterns = ["build", "benchmarks/embedded/texts", "benchmarks/embedded/written"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 3
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "description"
suppress_warnings = [
    "docutils",  # docstrings are read in an editor, and have no markup but backquotes
    "myst.xref_missing",  # links to programs and folders of the checkout
    "ref.python",  # a class is documented where it is defined and where it is imported from
]
html_theme = "alabaster"
html_theme_options = {"description": "What did this summary lose?", "page_width": "1100px"}
