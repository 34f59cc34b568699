"""Counterpoint: the platform, which knows no paper."""

__version__ = "0.1.0"
