"""The trained judge learns from final labels, never from those it is tested on, and is stored."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from annotation.judges.methods.classifier import (
    OtherFeaturesError,
    TooFewLabelsError,
    find_components,
    fit,
    fit_member,
    grouped_folds,
    grouped_out_of_fold,
)
from annotation.judges.methods.features import RelevanceFeatures, describe_sentences, pair_key
from annotation.judges.methods.probabilities import (
    log_loss,
    median_label,
    sharpen,
    shrink,
    uncertainty,
)
from annotation.judges.methods.storage import ModelFileError, load_model, save_model
from .relevance_toys import LetterEmbedder, toy_sentences

SENTENCES, OBJECTS, LABELS = toy_sentences()
GROUPS = [pair_key(*pair) for pair in OBJECTS]


@pytest.fixture(scope="module", params=["lexical", "with vectors"])
def features(request):
    embedder = LetterEmbedder() if request.param == "with vectors" else None
    return describe_sentences(SENTENCES, OBJECTS, embedder)


@pytest.fixture(scope="module")
def plain():
    return describe_sentences(SENTENCES, OBJECTS)


def test_it_learns_what_can_be_learned(features):
    model, again = (fit(features, LABELS, GROUPS, seed=7) for _ in range(2))
    probabilities = model.predict_proba(features)
    assert (again.predict_proba(features) == probabilities).all()
    assert probabilities.shape == (len(LABELS), 4)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    assert (probabilities > 0).all()
    assert (model.predict(features) == LABELS).mean() > 0.95
    assert model.uses_embeddings == (features.mentions is not None)
    assert model.n_labels == len(LABELS)


def test_out_of_fold_is_good_on_unseen_pairs_and_at_chance_on_shuffled_labels(features):
    found = median_label(grouped_out_of_fold(features, LABELS, GROUPS, n_folds=4), range(4))
    assert (found == LABELS).mean() > 0.9
    shuffled = np.random.default_rng(5).permutation(LABELS)
    found = median_label(grouped_out_of_fold(features, shuffled, GROUPS, n_folds=4), range(4))
    assert (found == shuffled).mean() < 0.45


def test_a_label_takes_no_part_in_its_own_prediction(features):
    folds = grouped_folds(GROUPS, 4, seed=3)
    before = grouped_out_of_fold(features, LABELS, GROUPS, n_folds=4, seed=3)
    changed = np.where(folds == 2, 3 - LABELS, LABELS)
    after = grouped_out_of_fold(features, changed, GROUPS, n_folds=4, seed=3)
    assert (after[folds == 2] == before[folds == 2]).all()
    assert (after[folds != 2] != before[folds != 2]).any()


def test_any_ordinal_scale(features):
    for levels, code in (((0, 1), LABELS // 2), ((-5, 1, 2, 3, 40), LABELS), (range(10), LABELS)):
        labels = np.asarray(levels)[code]
        model = fit(features, labels, GROUPS, levels=levels)
        assert model.predict_proba(features).shape == (len(labels), len(levels))
        assert (model.predict(features) == labels).mean() > 0.9


@pytest.mark.long
def test_the_smallest_training_set(features):
    # Five pairs, two labels of which one is rare: some training parts have a single label.
    few = np.flatnonzero(np.isin(GROUPS, sorted(set(GROUPS))[:5]))[::2][:30]
    labels = np.where(np.arange(30) < 2, 0, 3)
    groups = [f"pair {row % 5}" for row in range(30)]
    some = features.take(few)
    found = grouped_out_of_fold(some, labels, groups, n_folds=10)
    assert found.sum(axis=1) == pytest.approx(1)
    assert set(fit(some, labels, groups).predict(some)) <= {0, 1, 2, 3}
    assert (found[:, 1:3] < found[:, [3]]).all()


def test_too_little_to_learn_from(plain):
    for n, labels, n_groups, message in (
        (29, 4, 8, "at least 30 labelled items; there are 29"),
        (60, 1, 8, "at least 2 different labels; there are 1"),
        (60, 4, 4, "at least 5 different pairs of objects; there are 4"),
        (0, 4, 8, "there are 0"),
    ):
        rows = np.arange(n)
        groups = [str(row % n_groups) for row in rows]
        for learn in (fit, grouped_out_of_fold):
            with pytest.raises(TooFewLabelsError, match=message):
                learn(plain.take(rows), rows % labels, groups)
    for labels, groups, levels, message in (
        (LABELS[1:], GROUPS, range(4), "same length"),
        (LABELS, GROUPS[1:], range(4), "same length"),
        (LABELS, GROUPS, range(3), "not one of the levels"),
        (LABELS, GROUPS, (0, 2, 1, 3), "ascending"),
        (LABELS, GROUPS, (0,), "2 to 10 levels"),
        (LABELS, GROUPS, range(11), "2 to 10 levels"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(plain, labels, groups, levels=levels)


def test_other_features_than_those_trained_with_are_refused(plain):
    full = describe_sentences(SENTENCES, OBJECTS, LetterEmbedder())
    model = fit(full, LABELS, GROUPS)
    for other, message in (
        (plain, "embeddings of letters; these features have none"),
        (RelevanceFeatures(full.lexical, full.mentions, "other"), "have other"),
        (RelevanceFeatures(full.lexical[:, 1:], full.mentions, "letters"), "another version"),
    ):
        with pytest.raises(OtherFeaturesError, match=message):
            model.predict(other)
    # A judge of words only does not mind vectors it never asked for.
    words = fit(plain, LABELS, GROUPS)
    assert (words.predict(full) == words.predict(plain)).all()


def test_features_that_never_vary_leave_the_frequencies_of_the_labels():
    constant = RelevanceFeatures(np.ones((len(LABELS), 3)))
    skewed = np.where(np.arange(len(LABELS)) % 4 == 0, 1, 2)
    found = fit(constant, skewed, GROUPS).predict_proba(constant)
    assert np.ptp(found, axis=0) == pytest.approx(0)
    assert found[0, 1] == pytest.approx(0.25, abs=0.06)
    assert found[0, [0, 3]].max() < 0.01


@pytest.mark.parametrize("seed", range(2))
def test_folds_keep_groups_whole_and_are_of_similar_size(seed):
    groups = np.random.default_rng(seed).geometric(0.05, 400).tolist()
    folds = grouped_folds(groups, 10, seed)
    assert all(len(set(folds[np.equal(groups, name)])) == 1 for name in set(groups))
    sizes = np.bincount(folds)
    assert len(sizes) == 10
    assert np.ptp(sizes) <= max(groups.count(name) for name in set(groups))
    assert (folds == grouped_folds(groups, 10, seed)).all()
    assert (folds != grouped_folds(groups, 10, seed + 1)).any()


def test_the_composed_matrix_equals_scikit_learn_on_scaled_features():
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    random = np.random.default_rng(1)
    block = random.normal(size=(60, 9)) * random.uniform(0.1, 50, 9) + 7
    for codes in (random.integers(0, 3, 60), random.integers(0, 2, 60)):
        member = fit_member(find_components(block, 100), np.arange(60), codes, codes.max() + 1, 2)
        scaled = StandardScaler().fit_transform(block) / 3
        expected = LogisticRegression(C=2, max_iter=2000).fit(scaled, codes)
        assert member.predict_proba(block) == pytest.approx(
            expected.predict_proba(scaled), abs=1e-3
        )


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)])
def test_components_are_the_strongest_directions(shape):
    block = np.random.default_rng(2).normal(size=shape)
    block = (block - block.mean(axis=0)) / block.std(axis=0)
    found = find_components(block, 5)
    strengths = np.linalg.svd(block / np.sqrt(shape[1]), compute_uv=False)[:5]
    assert np.linalg.norm(found.values, axis=0) == pytest.approx(strengths)
    assert (block - found.centre) @ found.basis == pytest.approx(found.values)


def test_median():
    for row, label in (
        ([0.5, 0.5, 0, 0], 0),
        ([0.4, 0.1, 0.1, 0.4], 1),
        ([0.1, 0.2, 0.2, 0.5], 2),
        ([0, 0, 0.4, 0.6], 3),
        ([0.2, 0.2, 0.0999999, 0.5], 3),
    ):
        assert median_label(np.array([row]), range(4)).tolist() == [label], row
    # Uncertainty orders as the scale does.
    rows = [[0, 0, 0, 1], [0, 0, 0.1, 0.9], [0, 0, 0.5, 0.5], [0, 0.5, 0, 0.5], [0.5, 0, 0, 0.5]]
    found = uncertainty(np.array(rows))
    assert (np.diff(found) > 0).all()
    assert found[[0, 2, 3, 4]] == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_temperature_and_shrinking():
    rows = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5]])
    assert sharpen(rows, 1.0) == pytest.approx(rows, abs=1e-9)
    assert sharpen(rows, 2.0)[0, 0] < 0.7 < sharpen(rows, 0.5)[0, 0]
    assert shrink(rows, 9)[1] == pytest.approx([1 / 30, 29 / 60, 29 / 60])
    assert log_loss(rows, np.array([0, 1])) == pytest.approx(-(np.log(0.7) + np.log(0.5)) / 2)


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
    digest = hashlib.sha256(content).hexdigest()
    found = load_model(content, digest)
    assert found.sha256 == digest
    assert (found.model.predict_proba(features) == model.predict_proba(features)).all()
    known = (found.model.levels, found.model.seed, found.model.n_labels)
    assert known == ((0, 1, 2, 3), 4, len(LABELS))
    assert found.model.embedding_model == features.embedding_model
    assert {"python", "numpy", "scipy", "scikit-learn"} == set(found.versions)
    assert save_model(found.model) == content
    # No text of the study is stored, and a changed byte is noticed.
    header = arrays_of(content)["header"].tobytes().decode().lower()
    assert "tram" not in header
    assert "toner" not in header
    changed = bytearray(content)
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
    huge, array = io.BytesIO(), io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(array, claim)
    with zipfile.ZipFile(huge, "w") as archive:
        archive.writestr("header.npy", array.getvalue())
    for content in (huge.getvalue(), b"", b"PK", b"not a zip", b"\x93NUMPY\x01\x00", b"[1, 2]"):
        with pytest.raises(ModelFileError, match="not the file of a trained judge"):
            load_model(content)
    # A file that ends too early, at every length.
    for length in range(0, len(stored), len(stored) // 97):
        with pytest.raises(ModelFileError):
            load_model(stored[:length])


CHANGED = (
    *({"lexical_weights": np.zeros((3, 4))}, {"mentions_weights": np.zeros((3, 5))}),
    *({"mentions_weights": np.zeros(4)}, {"mentions_weights": np.float64(1)}),
    *({"lexical_offsets": np.full(4, np.inf)}, {"lexical_offsets": np.array([*"abcd"])}),
    *({"header": np.frombuffer(text, np.uint8)} for text in (b"[" * 100_000, b"[]")),
)


DAMAGED = (
    *({"levels": levels} for levels in ([0, 1, 2], [3, 2, 1, 0], [0, 1, 2, "x"], None)),
    *({"blocks": ["lexical", "other"]}, {"blocks": "lexical"}, {"temperature": 0}),
    *({"temperature": float("nan")}, {"mention_weight": 2}, {"n_labels": -1}, {"seed": []}),
    {"versions": 5},
)


def test_a_changed_header_is_refused(stored):
    for changes, message in (
        ({"format": "something"}, "not the file"),
        ({"format_version": 2}, "another version"),
        ({"feature_names": ["words"]}, "other features"),
        *((changes, "damaged") for changes in DAMAGED),
    ):
        with pytest.raises(ModelFileError, match=message):
            load_model(with_header(stored, **changes))
    for changes in CHANGED:
        with pytest.raises(ModelFileError):
            load_model(file_of(arrays_of(stored) | changes))
