"""The prompts that come with this app, one file each."""

from pathlib import Path

FOLDER = Path(__file__).parent
