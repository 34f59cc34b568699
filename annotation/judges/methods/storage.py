"""Serialisation of a trained relevance judge without pickle.

The format is numpy's ``.npz`` with plain float arrays and one JSON header. Reading creates only
numbers and text, so bytes of unknown origin are harmless. Identical models give identical bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from annotation.judges.methods.classifier import (
    LEXICAL,
    MENTIONS,
    LinearMember,
    RelevanceClassifier,
)
from annotation.judges.methods.features import FEATURE_NAMES
from cqa_site.stats.arrays import FloatArray

FORMAT = "counterpoint-relevance-judge"
FORMAT_VERSION = 1
MAX_BYTES = 16_000_000
_HEADER = "header"


class ModelFileError(ValueError):
    """The bytes do not contain a relevance judge that this version can use."""


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A loaded model with its stored metadata.

    Attributes
    ----------
    model : RelevanceClassifier
    sha256 : str
        Hash of all bytes.
    versions : dict of str
        Versions of Python and libraries used in training.
    """

    model: RelevanceClassifier
    sha256: str
    versions: Mapping[str, str]


def save_model(model: RelevanceClassifier) -> bytes:
    """Return the model as bytes, without sentences, labels or object names."""
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "levels": list(model.levels),
        "blocks": sorted(model.members),
        "mention_weight": model.mention_weight,
        "temperature": model.temperature,
        "embedding_model": model.embedding_model,
        "n_labels": model.n_labels,
        "seed": model.seed,
        "feature_names": list(FEATURE_NAMES),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        },
    }
    arrays: dict[str, Any] = {_HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}
    for name, member in model.members.items():
        arrays[f"{name}_weights"] = member.weights
        arrays[f"{name}_offsets"] = member.offsets
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def load_model(content: bytes, sha256: str | None = None) -> StoredModel:
    """Read a stored model.

    Parameters
    ----------
    content
        The result of `save_model`, at most 16 MB.
    sha256
        If given, the bytes must have this hash.

    Raises
    ------
    ModelFileError
        If the bytes cannot be read; the message gives the reason. They are never executed.
    """
    if len(content) > MAX_BYTES:
        raise ModelFileError("The file of the trained judge is too large.")
    digest = hashlib.sha256(content).hexdigest()
    if sha256 is not None and digest != sha256:
        raise ModelFileError("The file of the trained judge was changed after it was stored.")
    arrays = _read_arrays(content)
    header = _read_header(arrays)
    try:
        return StoredModel(_model(header, arrays), digest, _versions(header))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError("The file of the trained judge is damaged.") from error


def _read_arrays(content: bytes) -> dict[str, np.ndarray[Any, Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            # Compressed or overlapping members could expand to any size; ours are uncompressed.
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise ModelFileError("The file of the trained judge is compressed.")
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise ModelFileError("The file of the trained judge is too large.")
            return {
                member.filename.removesuffix(".npy"): _read_array(archive.read(member))
                for member in members
            }
    except ModelFileError:
        raise
    except (ValueError, OSError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        raise ModelFileError("This is not the file of a trained judge.") from error


def _read_array(content: bytes) -> np.ndarray[Any, Any]:
    """Read one numeric ``.npy``; `numpy.load` would allocate any size that the header claims."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("not an array")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    data = file.read()
    if dtype not in (np.dtype(np.float64), np.dtype(np.uint8)):
        raise ValueError("not numbers")
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise ValueError("the header and the data do not match")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if is_fortran else "C")


def _read_header(arrays: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    try:
        header = json.loads(arrays[_HEADER].tobytes().decode())
        is_ours = header["format"] == FORMAT
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ModelFileError("This is not the file of a trained judge.") from error
    if not is_ours:
        raise ModelFileError("This is not the file of a trained judge.")
    if header.get("format_version") != FORMAT_VERSION:
        raise ModelFileError("The trained judge was stored by another version; train it again.")
    if header.get("feature_names") != list(FEATURE_NAMES):
        raise ModelFileError("The trained judge uses other features; train it again.")
    return dict(header)


def _model(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]
) -> RelevanceClassifier:
    levels = tuple(int(level) for level in header["levels"])
    blocks = header["blocks"]
    if blocks not in ([LEXICAL], [LEXICAL, MENTIONS]):
        raise ValueError("unknown blocks of features")
    if not 2 <= len(levels) <= 10 or sorted(set(levels)) != list(levels):
        raise ValueError("not a scale")
    return RelevanceClassifier(
        levels=levels,
        members={name: _member(arrays, name, len(levels)) for name in blocks},
        mention_weight=_number(header["mention_weight"], 0.0, 1.0),
        temperature=_number(header["temperature"], 0.01, 100.0),
        embedding_model=str(header["embedding_model"]),
        n_labels=int(_number(header["n_labels"], 1, 1e9)),
        seed=int(header["seed"]),
    )


def _member(arrays: Mapping[str, np.ndarray[Any, Any]], name: str, n_levels: int) -> LinearMember:
    weights, offsets = arrays[f"{name}_weights"], arrays[f"{name}_offsets"]
    if name == LEXICAL and len(weights) != len(FEATURE_NAMES):
        raise ValueError("wrong number of features")
    if weights.ndim != 2 or weights.shape[1] != n_levels or offsets.shape != (n_levels,):
        raise ValueError("wrong shape")
    return LinearMember(_finite(weights), _finite(offsets))


def _finite(array: np.ndarray[Any, Any]) -> FloatArray:
    if array.dtype != np.float64 or not np.isfinite(array).all():
        raise ValueError("not finite numbers")
    return array


def _number(value: Any, low: float, high: float) -> float:
    number = float(value)
    if not math.isfinite(number) or not low <= number <= high:
        raise ValueError("a number is out of range")
    return number


def _versions(header: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in dict(header["versions"]).items()}
