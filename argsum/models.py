"""Imports of the app's models for Django; each model is defined in its own subpackage."""

# ruff: noqa: F401

import argsum.analysis.models
import argsum.auditing.models
import argsum.coding.models
import argsum.counting.models
import argsum.datasets.models
import argsum.keypoints.models
import argsum.leaderboard.models
import argsum.metrics.models
import argsum.prose.models
import argsum.scorers.models
import argsum.surveys.models
