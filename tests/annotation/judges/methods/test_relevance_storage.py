"""A stored judge comes back equal; anything else is refused and never executed."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from annotation.judges.methods.classifier import fit
from annotation.judges.methods.features import describe_sentences, pair_key
from annotation.judges.methods.storage import ModelFileError, load_model, save_model

from .relevance_toys import LetterEmbedder, toy_sentences

SENTENCES, OBJECTS, LABELS = toy_sentences()
GROUPS = [pair_key(*pair) for pair in OBJECTS]


@pytest.fixture(scope="module", params=["lexical", "with vectors"])
def features(request):
    embedder = LetterEmbedder() if request.param == "with vectors" else None
    return describe_sentences(SENTENCES, OBJECTS, embedder)


@pytest.fixture(scope="module")
def stored():
    features = describe_sentences(SENTENCES, OBJECTS, LetterEmbedder())
    return save_model(fit(features, LABELS, GROUPS))


def arrays_of(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def file_of(arrays, save=np.savez, **options):
    file = io.BytesIO()
    save(file, **arrays, **options)
    return file.getvalue()


def with_header(content, **changes):
    arrays = arrays_of(content)
    header = json.loads(arrays["header"].tobytes()) | changes
    return file_of(arrays | {"header": np.frombuffer(json.dumps(header).encode(), np.uint8)})


def test_what_was_stored_comes_back(features):
    model = fit(features, LABELS, GROUPS, seed=4)
    content = save_model(model)
    found = load_model(content, hashlib.sha256(content).hexdigest())
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    assert (found.model.predict_proba(features) == model.predict_proba(features)).all()
    assert (found.model.levels, found.model.seed, found.model.n_labels) == (
        (0, 1, 2, 3),
        4,
        len(LABELS),
    )
    assert found.model.embedding_model == features.embedding_model
    assert {"python", "numpy", "scipy", "scikit-learn"} == set(found.versions)
    assert save_model(found.model) == content


def test_no_text_of_the_study_is_stored(stored):
    header = arrays_of(stored)["header"].tobytes().decode().lower()
    assert "tram" not in header
    assert "toner" not in header


def test_a_changed_byte_is_noticed(stored):
    digest = hashlib.sha256(stored).hexdigest()
    changed = bytearray(stored)
    changed[len(changed) // 2] ^= 1
    with pytest.raises(ModelFileError, match="changed after it was stored"):
        load_model(bytes(changed), digest)


class Malicious:
    """Creates a file as soon as somebody unpickles it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("where", ["bare", "array", "header", "joblib"])
def test_a_malicious_pickle_is_refused_and_not_executed(stored, where, tmp_path):
    trace = tmp_path / "executed"
    evil = np.array([Malicious(trace)], dtype=object)
    content = {
        "bare": lambda: pickle.dumps(Malicious(trace)),
        "array": lambda: file_of(arrays_of(stored) | {"mentions_weights": evil}),
        "header": lambda: file_of(arrays_of(stored) | {"header": evil}),
        "joblib": lambda: file_of({"model": evil}),
    }[where]()
    with pytest.raises(ModelFileError, match="not the file of a trained judge"):
        load_model(content)
    assert not trace.exists()
    if where == "bare":  # the trap itself works
        pickle.loads(content).close()
        assert trace.exists()


def test_bombs_are_refused(stored):
    zeros = {"mentions_weights": np.zeros((1_000_000, 4))}
    with pytest.raises(ModelFileError, match="compressed"):
        load_model(file_of(arrays_of(stored) | zeros, np.savez_compressed))
    with pytest.raises(ModelFileError, match="too large"):
        load_model(file_of(arrays_of(stored) | zeros))
    # A header of an array that claims more than its file holds.
    huge = io.BytesIO()
    with zipfile.ZipFile(huge, "w") as archive:
        array = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            array, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        )
        archive.writestr("header.npy", array.getvalue())
    with pytest.raises(ModelFileError, match="not the file"):
        load_model(huge.getvalue())


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"not a zip", b"\x93NUMPY\x01\x00", b"[1, 2]"], ids=repr
)
def test_anything_else_is_not_a_judge(content):
    with pytest.raises(ModelFileError, match="not the file of a trained judge"):
        load_model(content)


def test_a_truncated_file_is_refused_at_every_length(stored):
    for length in range(0, len(stored), len(stored) // 97):
        with pytest.raises(ModelFileError):
            load_model(stored[:length])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "something"}, "not the file"),
        ({"format_version": 2}, "another version"),
        ({"feature_names": ["words"]}, "other features"),
        ({"levels": [0, 1, 2]}, "damaged"),
        ({"levels": [3, 2, 1, 0]}, "damaged"),
        ({"levels": [0, 1, 2, "x"]}, "damaged"),
        ({"levels": None}, "damaged"),
        ({"blocks": ["lexical", "other"]}, "damaged"),
        ({"blocks": "lexical"}, "damaged"),
        ({"temperature": 0}, "damaged"),
        ({"temperature": float("nan")}, "damaged"),
        ({"mention_weight": 2}, "damaged"),
        ({"n_labels": -1}, "damaged"),
        ({"seed": []}, "damaged"),
        ({"versions": 5}, "damaged"),
    ],
)
def test_a_changed_header_is_refused(stored, changes, message):
    with pytest.raises(ModelFileError, match=message):
        load_model(with_header(stored, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"lexical_weights": np.zeros((3, 4))},
        {"mentions_weights": np.zeros((3, 5))},
        {"mentions_weights": np.zeros(4)},
        {"mentions_weights": np.float64(1)},
        {"lexical_offsets": np.full(4, np.inf)},
        {"lexical_offsets": np.array(["a", "b", "c", "d"])},
        {"header": np.frombuffer(b"[" * 100_000, np.uint8)},
        {"header": np.frombuffer(b"[]", np.uint8)},
    ],
    ids=lambda changes: " ".join(f"{name} {array.shape}" for name, array in changes.items()),
)
def test_changed_arrays_are_refused(stored, changes):
    with pytest.raises(ModelFileError):
        load_model(file_of(arrays_of(stored) | changes))
