"""The page model of a report and its renderers: terminal table, Markdown, HTML, JUnit XML, CSV."""
