"""Simulations of every verdict under its null, and of every interval, by package."""
