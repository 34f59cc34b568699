"""The scorers that come with the site: made once, kept small, and made again by one command.

A match scorer is the packaged model and a difference to it of low rank, which takes a thirtieth
of the room of its weights. A quality scorer is a line through vectors of the packaged model.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argsum.scorers.methods.training_cells import both_stances
from argsum.scorers.methods.training_recipe import Recipe
from argsum.scorers.models import SHIPPED_MATCH, SHIPPED_QUALITY, Scorer
from cqa_site.judging.embedding import (
    DIFFERENCE,
    PACKAGED_MODEL,
    SIDE,
    Side,
    packaged_weights,
)

from .match_training import CARD, look_at_dev
from .models import SHIPPED, SUMS, trained_folder
from .models import WEIGHTS as WEIGHT_FILES
from .quality_training import train_quality
from .training_data import DEV, TRAIN, Splits, Statements, statement_cells, statements_in

if TYPE_CHECKING:
    import numpy as np

    from .training_data import Rated

Say = Callable[[int, int, str], None]
STATEMENTS = SHIPPED[SHIPPED_MATCH].parent / "statements"
# Topics of statements that nothing is learned from: the weights are chosen on them.
HELD_BACK = 8
# Of six layers three are learned, so that the difference can be of a higher rank.
RECIPE = Recipe(
    steps=2_600,
    batch=96,
    learning_rate=2e-4,
    temperature=0.07,
    frozen=4,
    averaging=0.995,
    checks=6,
    patience=6,
    members=1,
    uses_topic=False,
    quick=True,
)
# Of each matrix of the difference: 2.7 MB in all, in half precision.
RANK = 64
# Of what was learned so much is added: between the packaged weights and the trained ones, texts on
# topics that are like none that was learned are told apart better.
KEPT = 0.7
# How much which side a text takes counts in a match score.
SIDE_SHARE = 0.05
SIDES = ("for", "against")
SIDE_STRENGTH = 10.0
WEIGHTS = "model.safetensors"
TRAINED_ON = "arguments of ArgKP-2021 with the qualities of the released processed file"


def shipping_cells(argkp: Splits, points: Sequence[Statements]) -> Splits:
    """What the match scorer learns from, and what chooses its weights.

    Arguments of both stances of a topic share a batch, and so do statements of opposite sides:
    what takes the other side is what does not match.
    """
    learned, held = split_statements(points)
    train = [*both_stances(argkp[TRAIN]), *statement_cells(learned)]
    return {TRAIN: train, DEV: [*argkp[DEV], *statement_cells(held)]}


def split_statements(
    points: Sequence[Statements],
) -> tuple[list[Statements], list[Statements]]:
    """Those that are learned, and those of the topics that are held back."""
    topics = sorted({each.topic for each in points})
    random.Random(1).shuffle(topics)  # noqa: S311  an order, not a secret
    held = set(topics[:HELD_BACK])
    return (
        [each for each in points if each.topic not in held],
        [each for each in points if each.topic in held],
    )


def ship_match(
    argkp: Splits, recipe: Recipe, work: Path, say: Say
) -> tuple[Path, list[dict[str, Any]]]:
    """Train the match scorer, and put its difference to the packaged model beside the code.

    Parameters
    ----------
    argkp
        As `argsum.scorers.actions.training_data.cells_in` reads them.
    recipe
        Usually `RECIPE`.
    work
        A folder for checkpoints and whole weights; a training that was broken off goes on.
    say
        Hears how far it is.

    Returns
    -------
    Path
        Of the difference.
    list of dict
        Looks at dev, with ``step``, ``weights`` and ``value``, the average precision of pairs; the
        last one says how often the side of statements is right on topics that were held back.
    """
    from .training_average import AveragedTraining

    points = statements_in(STATEMENTS)
    cells = shipping_cells(argkp, points)
    averaged = AveragedTraining(
        PACKAGED_MODEL,
        cells[TRAIN],
        recipe,
        lambda encode: look_at_dev(cells, encode, recipe),
        work / "checkpoint",
    )
    averaged.run(say).save(work / "weights")
    looks = [look for member in averaged.members for look in member.looks]
    path = write_difference(work / "weights", SHIPPED[SHIPPED_MATCH])
    side, right = side_of(path.parent, points)
    add_side(path, side)
    write_sums(path.parent)
    return path, [*looks, {"sides": right}]


def side_of(folder: Path, points: Sequence[Statements]) -> tuple[Side, float]:
    """The line that tells sides, and how often it is right where nothing was learned, 0–1."""
    from sklearn.linear_model import LogisticRegression

    from cqa_site.judging.embedding import SentenceEmbedder

    embedder = SentenceEmbedder(str(folder), quick=True)
    learned, held = (
        [(text, each.side) for each in part if each.side in SIDES for text in each.texts]
        for part in split_statements(points)
    )
    vectors, unseen = (embedder.encode([text for text, _side in part]) for part in (learned, held))
    line = LogisticRegression(C=SIDE_STRENGTH, max_iter=1_000)
    line.fit(vectors, [side == SIDES[0] for _text, side in learned])
    right = float(line.score(unseen, [side == SIDES[0] for _text, side in held]))
    return Side(line.coef_[0], float(line.intercept_[0]), SIDE_SHARE), right


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
    write_sums(folder)
    return folder


def write_sums(folder: Path) -> None:
    """Say beside the weights what their bytes are, as ``sha256sum`` does."""
    files = sorted(file for each in WEIGHT_FILES for file in folder.glob(each))
    lines = [f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / SUMS).write_text("".join(lines), encoding="ascii")


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

    before, after = (
        {name: part for name, part in load_file(at / WEIGHTS).items() if part.dtype.kind == "f"}
        for at in (Path(packaged_weights()), trained)
    )
    if before.keys() != after.keys():
        raise ValueError(f"{trained.name} did not begin as {PACKAGED_MODEL}.")
    found: dict[str, np.ndarray] = {}
    for name, weights in after.items():
        found |= _factors(name, KEPT * (weights.astype(np.float32) - before[name]), rank)
    path = folder / DIFFERENCE
    save_file(found, path)
    return path


def add_side(path: Path, side: Side) -> None:
    """Keep a line that tells sides with a difference."""
    import numpy as np
    from safetensors.numpy import load_file, save_file

    parts = {"weight": side.weight, "bias": [side.bias], "share": [side.share]}
    own = {f"{SIDE}{name}": np.array(part, np.float32) for name, part in parts.items()}
    save_file(load_file(path) | own, path)


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
