"""Scoring of comparative answers by rubric: people, judges, agreement, leaderboard (CompQA)."""
