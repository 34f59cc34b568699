"""Weights of a model in training: which are learned, and the checkpoint they are kept in."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from cqa_site.judging.embedding import (
    PACKAGED_MODEL,
    EmbeddingsUnavailable,
    packaged_weights,
    require_packages,
)


def load_encoder(source: str, longest: int) -> Any:
    """A sentence-transformers model on the CPU; raises EmbeddingsUnavailable."""
    require_packages()
    from sentence_transformers import SentenceTransformer

    folder = packaged_weights() if source == PACKAGED_MODEL else source
    try:
        is_packaged = source == PACKAGED_MODEL
        model = SentenceTransformer(folder, device="cpu", local_files_only=is_packaged)
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingsUnavailable(f"The model {source!r} could not be loaded.") from error
    model.max_seq_length = min(longest, model.max_seq_length or longest)
    return model


def trainable(model: Any, frozen: int) -> list[Any]:
    """The weights that are learned; ``frozen`` as in `Recipe`.

    Raises EmbeddingsUnavailable for a model without layers of attention.
    """
    from torch.nn import ModuleList

    network = getattr(model[0], "auto_model", None)
    if network is None:
        raise EmbeddingsUnavailable("This model is no transformer; it cannot be trained here.")
    if frozen:
        words = getattr(network, "embeddings", None) or network.get_input_embeddings()
        words.requires_grad_(False)
    # Architectures name them otherwise; all keep them in the first list of modules.
    layers = next((list(each) for each in network.modules() if isinstance(each, ModuleList)), [])
    for layer in layers[: max(0, frozen - 1)]:
        layer.requires_grad_(False)
    if getattr(network, "pooler", None) is not None:
        # Means of token vectors are taken: nothing reaches the pooler.
        network.pooler.requires_grad_(False)
    return [each for each in model.parameters() if each.requires_grad]


def copied(weights: Sequence[Any]) -> list[Any]:
    """Copies that training does not change."""
    return [each.detach().clone() for each in weights]


def load(weights: Sequence[Any], kept: Sequence[Any]) -> None:
    """Write kept values into weights."""
    import torch

    with torch.no_grad():
        for each, value in zip(weights, kept, strict=True):
            each.copy_(value)


def random_state() -> Any:
    """Where the random numbers of the dropout are."""
    import torch

    return torch.get_rng_state()


def set_random_state(state: Any) -> None:
    """Go on from there."""
    import torch

    torch.set_rng_state(state)


def write(path: Path, kept: dict[str, Any]) -> None:
    """Write a checkpoint under another name and rename it: a kill leaves the old one whole."""
    import torch

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}-{uuid4().hex}.part")
    try:
        with unfinished.open("wb") as file:
            torch.save(kept, file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path) -> dict[str, Any] | None:
    """The checkpoint, nothing but tensors and plain values; None if there is none to read."""
    import torch

    try:
        kept: dict[str, Any] = torch.load(path, weights_only=True)
    except (OSError, RuntimeError, ValueError, EOFError, LookupError, pickle.UnpicklingError):
        return None
    return kept
