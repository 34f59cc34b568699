"""Where Django looks for the tables of the app; each stands in its room."""

# ruff: noqa: F401

import benchmark.leaderboard.models
import benchmark.preferences.models
import benchmark.rubrics.models
import benchmark.scoring.models
