"""Packages that a trace may have built by default."""

from __future__ import annotations

from typing import Final

KNOWN_PACKAGES: Final = (
    *("beautifulsoup4", "duckdb", "httpx", "jinja2", "lxml", "matplotlib", "networkx", "numpy", "openpyxl"),
    *("pandas", "pillow", "plotly", "polars", "pyarrow", "pydantic", "python-dateutil", "pytz", "pyyaml"),
    *("requests", "scikit-learn", "scipy", "seaborn", "sqlalchemy", "statsmodels", "sympy", "tabulate"),
)
"""Packages that agents' code imports most and whose names no private index can be confused about."""
