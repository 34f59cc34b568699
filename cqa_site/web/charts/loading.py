"""Altair, for functions that draw: imported by them alone, because it is heavy.

Altair asks whatever is in memory under the name of pandas, be it half of it while another thread
loads it. So pandas is loaded first, as a whole.
"""

# ruff: noqa: I001
import pandas as pd
import altair as alt

__all__ = ["alt", "pd"]
