"""Imports of all models, so that Django finds the app's tables."""

# ruff: noqa: F401

import benchmark.leaderboard.models
import benchmark.preferences.models
import benchmark.rubrics.models
import benchmark.scoring.models
