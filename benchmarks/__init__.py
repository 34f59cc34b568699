"""Measurements: scripts that print a table. No test asserts their results."""
