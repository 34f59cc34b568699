"""Scoring comparative answers by a rubric: people, judges, agreement, leaderboard (CompQA)."""
