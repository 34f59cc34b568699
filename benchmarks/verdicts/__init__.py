"""Simulations of every verdict under its null, and of every interval: one file for each package."""
