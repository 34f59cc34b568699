"""Measurements: scripts that print a table; never asserted by a test."""
