"""Where the released data lie: beside the repository, or where the environment says."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
ARGSUM, COMPQA = DATA / "argsum", DATA / "compqa"
