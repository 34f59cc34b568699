"""The Counterpoint platform, independent of any paper."""

__version__ = "0.1.0"
