"""Where Django looks for the tables of the app; each stands in its room."""

# ruff: noqa: F401

import argsum.analysis.models
import argsum.counting.models
import argsum.datasets.models
import argsum.keypoints.models
import argsum.leaderboard.models
import argsum.metrics.models
import argsum.scorers.models
