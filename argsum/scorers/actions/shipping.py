"""The scorers that come with the site: made once, kept small, and made again by one command.

A match scorer is the packaged model and a difference to it of low rank, which takes a thirtieth
of the room of its weights. A quality scorer is a line through vectors of the packaged model.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from argsum.scorers.models import SHIPPED_QUALITY, Scorer
from cqa_site.judging.embedding import DIFFERENCE, PACKAGED_MODEL, packaged_weights

from .match_training import CARD
from .models import SHIPPED, trained_folder
from .quality_training import train_quality

if TYPE_CHECKING:
    import numpy as np

    from .training_data import Rated

Say = Callable[[int, int, str], None]
# Of each matrix of the difference: 2.7 MB in all, in half precision.
RANK = 32
WEIGHTS = "model.safetensors"
TRAINED_ON = "arguments of ArgKP-2021 with the qualities of the released processed file"


def ship_quality(rated: dict[str, Rated], say: Say) -> Path:
    """Fit the line to qualities that came with arguments, and put it beside the code.

    Raises as `argsum.scorers.actions.quality_training.train_quality`.
    """
    scorer = Scorer(name="Counterpoint quality", base_model=PACKAGED_MODEL)
    made = train_quality(scorer, rated, say)
    folder = SHIPPED[SHIPPED_QUALITY]
    folder.mkdir(exist_ok=True)
    for name in ("regressor.npz", CARD):
        shutil.copyfile(trained_folder(scorer) / name, folder / name)
    shutil.rmtree(trained_folder(scorer))
    card = made["card"].replace("Trained on: files.", f"Trained on: {TRAINED_ON}.")
    (folder / CARD).write_text(card, encoding="utf-8")
    return folder


def write_difference(trained: Path, folder: Path, rank: int = RANK) -> Path:
    """What a training changed of the packaged model, matrix by matrix as two factors.

    Parameters
    ----------
    trained
        A folder of weights that began as the packaged model.
    folder
        Where `DIFFERENCE` is written.
    rank
        Of each matrix; what is smaller is kept whole.

    Raises
    ------
    ValueError
        If the weights are those of another architecture.
    """
    import numpy as np
    from safetensors.numpy import load_file, save_file

    before = load_file(Path(packaged_weights()) / WEIGHTS)
    after = load_file(trained / WEIGHTS)
    if before.keys() != after.keys():
        raise ValueError(f"{trained.name} did not begin as {PACKAGED_MODEL}.")
    found: dict[str, np.ndarray] = {}
    for name, weights in after.items():
        if not np.issubdtype(weights.dtype, np.floating):
            continue
        found |= _factors(name, weights.astype(np.float32) - before[name], rank)
    path = folder / DIFFERENCE
    save_file(found, path)
    return path


def _factors(name: str, change: np.ndarray, rank: int) -> dict[str, np.ndarray]:
    import numpy as np

    if not change.any():
        return {}
    if change.ndim < 2 or min(change.shape) <= rank:
        return {name: change.astype(np.float16)}
    left, sizes, right = np.linalg.svd(change, full_matrices=False)
    root = np.sqrt(sizes[:rank])
    return {
        f"{name}.a": np.ascontiguousarray(left[:, :rank] * root).astype(np.float16),
        f"{name}.b": np.ascontiguousarray(root[:, None] * right[:rank]).astype(np.float16),
    }
