"""Ways to show a `CoverageReport`. Pure functions of the report; only `write_html` touches a file.

`content` decides what is said and in which order; `table`, `markdown`, `html` and `junit` say it.
"""
