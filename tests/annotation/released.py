"""Where the released relevance data lies, for tests that skip without it."""

import os
from pathlib import Path

import pytest

_DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDER = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", _DEFAULT)) / "relevance"

VOTES = FOLDER / "assignments_from_pool_42774131__05-02-2024.tsv"
EXPERTS = FOLDER / "expert_annotation.xlsx"
FINAL = FOLDER / "dataset_cqa_all_gpt.json"
SILVER_112 = FOLDER / "silver_112x3.json"
SILVER_50 = FOLDER / "silver_50x3.json"
GOLD = FOLDER / "gold_40_plus_10x4.json"


def needs(*paths: Path):
    """Mark a test that reads released files."""
    absent = [path.name for path in paths if not path.exists()]

    def mark(test):
        reason = f"released data absent: {', '.join(absent)} (set COUNTERPOINT_REFERENCE_DATA)"
        return pytest.mark.reference(pytest.mark.skipif(bool(absent), reason=reason)(test))

    return mark
