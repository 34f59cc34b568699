"""The packaged embedding model, and what happens without it."""

import os
import subprocess
import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from annotation.judges.methods.features import describe_sentences
from cqa_site.judging import embedding, packages
from cqa_site.judging.embedding import (
    EmbeddingsUnavailable,
    SentenceEmbedder,
    embeddings_available,
)

is_absent = pytest.mark.skipif(
    not embeddings_available(), reason="torch, sentence-transformers or the weights are absent"
)


def packaged(test):
    """Only `make test-all` loads the model."""
    return pytest.mark.long(is_absent(test))


TEXTS = ["cats are lighter than dogs", "a much longer text about something else " * 8, "", "cats"]
ONE = {"batch_size": 1, "normalize_embeddings": True, "show_progress_bar": False}


WIDTH = 4
LAYERS = 4  # the input of the first one, and three more


class Tensor:
    """An array as torch hands it out."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.tolist = self.values.tolist

    def float(self):
        return self

    def numpy(self):
        return self.values


def vector_of(word, layer=LAYERS - 1):
    """Of a word, in one layer."""
    return np.array([len(word), layer, ord(word[0]) % 7, 1.0], dtype=np.float32)


class WordModel:
    """A model whose tokens are words; what it was asked is kept."""

    max_seq_length = 5

    def __init__(self, name="", **options):
        self.name, self.options, self.batches, self.limits = name, options, [], []
        self.tokenizer = self._tokens
        self._tokens.__func__.is_fast = True

    def eval(self):
        return self

    def get_embedding_dimension(self):
        return WIDTH

    def encode(self, texts, *, batch_size, normalize_embeddings, show_progress_bar):
        assert (batch_size, normalize_embeddings, show_progress_bar) == (len(texts), True, False)
        self.batches.append(texts)
        found = np.array([[len(text), len(text) % 3, 1, 2] for text in texts], dtype=np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def __getitem__(self, place):
        return SimpleNamespace(auto_model=self._network)

    def _tokens(self, texts, *, padding, truncation, max_length, **asked):
        assert (padding, truncation) == (True, True)
        assert asked == {"return_offsets_mapping": True, "return_tensors": "pt"}
        self.limits.append(max_length)
        words = [text.split()[:max_length] for text in texts]
        longest = max(map(len, words))
        offsets = [_offsets(text, own, longest) for text, own in zip(texts, words, strict=True)]
        padded = [own + ["-"] * (longest - len(own)) for own in words]
        return {"offset_mapping": Tensor(offsets), "words": padded}

    def _network(self, *, words, output_hidden_states):
        assert output_hidden_states
        states = [
            Tensor([[vector_of(word, layer) for word in own] for own in words])
            for layer in range(LAYERS)
        ]
        return SimpleNamespace(hidden_states=states)


def _offsets(text, words, longest):
    """Where each word stands; padding has no length."""
    found, place = [], 0
    for word in words:
        place = text.index(word, place)
        found.append((place, place + len(word)))
        place += len(word)
    return found + [(0, 0)] * (longest - len(words))


def pretend_torch(patch):
    """Have imports of torch and sentence-transformers find something that loads at once."""
    torch = ModuleType("torch")
    torch.threads, torch.autocasts = [], []
    torch.set_num_threads = torch.threads.append
    torch.inference_mode = nullcontext
    torch.bfloat16 = "16 bits"
    torch.autocast = lambda *given: torch.autocasts.append(given) or nullcontext()
    torch.cpu = SimpleNamespace(
        _is_avx512_bf16_supported=lambda: True, _is_amx_tile_supported=lambda: False
    )
    transformers = ModuleType("sentence_transformers")
    transformers.SentenceTransformer = WordModel
    patch.setitem(sys.modules, "torch", torch)
    patch.setitem(sys.modules, "sentence_transformers", transformers)
    return torch


@pytest.fixture
def torch(monkeypatch):
    """Stands for the packages, which are there."""
    monkeypatch.setattr(embedding, "require_packages", lambda: None)
    monkeypatch.setattr(embedding, "packaged_weights", lambda: "/packaged")
    return pretend_torch(monkeypatch)


def test_texts_are_encoded_in_batches_of_similar_length_and_come_back_in_order(torch):
    words, steps = SentenceEmbedder(batch_size=2), []
    vectors = words.encode(TEXTS, lambda *step: steps.append(step))
    assert (vectors.shape, vectors.dtype, steps) == ((4, 4), np.float32, [(2, 4), (4, 4)])
    model = words._loaded()
    assert [[len(text) for text in batch] for batch in model.batches] == [[0, 4], [26, 320]]
    assert (vectors == [model.encode([text], **ONE)[0] for text in TEXTS]).all()
    assert torch.autocasts == []
    assert words.encode([]).shape == (0, 4)
    # 16 bits are for quick vectors on a processor that knows them.
    SentenceEmbedder(quick=True).encode(["tea"])
    assert torch.autocasts == [("cpu", "16 bits")]
    torch.cpu._is_avx512_bf16_supported = lambda: False
    SentenceEmbedder(quick=True).encode(["tea"])
    assert len(torch.autocasts) == 1


def test_spans_are_means_over_their_tokens_in_two_layers(torch):
    words = SentenceEmbedder(batch_size=2)
    text = "cats are lighter than dogs are"
    groups = [((0, 4),), ((5, 7), (22, 26)), ()]
    found = words.encode_spans(["cats", text], [[(), ((0, 2),), ((7, 9),)], groups])
    found = found.reshape(2, 2, 4, 4)
    for place, layer in enumerate((2, 3)):
        cats, are, dogs = (vector_of(word, layer) for word in ("cats", "are", "dogs"))
        # The limit of the model is five tokens.
        every = np.mean([vector_of(word, layer) for word in text.split()[:5]], axis=0)
        assert found[1, place] == pytest.approx(np.array([every, cats, (are + dogs) / 2, 0 * are]))
        assert found[0, place] == pytest.approx(np.array([cats, 0 * cats, cats, 0 * cats]))
    assert words._loaded().limits == [5]
    assert words.encode_spans([], []).shape[0] == 0


def test_the_packaged_weights_ask_nobody_and_do_not_take_the_process_offline(torch, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    packaged_model = SentenceEmbedder()._loaded()
    assert (packaged_model.name, torch.threads) == ("/packaged", [1])
    assert packaged_model.options == {"device": "cpu", "local_files_only": True}
    other = SentenceEmbedder("some/model")._loaded()
    assert (other.name, other.options["local_files_only"]) == ("some/model", False)
    assert "HF_HUB_OFFLINE" not in os.environ

    def missing(*_given, **_named):
        raise OSError("no such folder")

    monkeypatch.setattr("sentence_transformers.SentenceTransformer", missing)
    with pytest.raises(EmbeddingsUnavailable, match="could not be loaded"):
        SentenceEmbedder("some/model").encode(["tea"])


@pytest.fixture(scope="module")
def embedder():
    return SentenceEmbedder(batch_size=2)


@packaged
def test_vectors_have_length_one_and_repeat(embedder):
    steps = []
    vectors = embedder.encode(TEXTS, lambda *step: steps.append(step))
    assert (vectors.shape, vectors.dtype) == ((4, 384), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert (embedder.encode(TEXTS) == vectors).all()
    assert steps == [(2, 4), (4, 4)]
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert alone == pytest.approx(vectors, abs=1e-5)
    near, far = embedder.encode(["dogs weigh more than cats", "the bank raised its rates"])
    assert vectors[0] @ near > vectors[0] @ far + 0.3
    # Quick ones are nearly the same, and repeat.
    quick = SentenceEmbedder(batch_size=2, quick=True)
    quick._model = embedder._loaded()
    found = quick.encode(TEXTS)
    assert found.dtype == np.float32
    assert (quick.encode(TEXTS) == found).all()
    assert (found * vectors).sum(axis=1) == pytest.approx(1, abs=1e-3)


@packaged
def test_spans_are_seen_in_their_context(embedder):
    text = "cats are lighter than dogs"
    spans = [[((0, 4),), ((22, 26),), ()], [((0, 4),), (), ()]]
    vectors = embedder.encode_spans([text, "cats sleep"], spans).reshape(2, 2, 4, 384)
    assert np.isfinite(vectors).all()
    assert not vectors[:, :, 3].any()
    assert not vectors[1, :, 2].any()
    assert vectors[:, :, :2].any(axis=-1).all()
    # The same word, in two contexts; and the mean over all tokens is not one of its parts.
    assert np.abs(vectors[0, :, 1] - vectors[1, :, 1]).max() > 0.05
    assert np.abs(vectors[0, 0, 0] - vectors[0, 0, 1]).max() > 0.05
    # Order and names of the objects do not matter.
    sentences = ["Tea is lighter than coffee.", "Rye is lighter than wheat."]
    found = describe_sentences(sentences, [("coffee", "tea"), ("rye", "wheat")], embedder)
    assert found.mentions.shape == (2, 3072)
    assert found.mentions[0] == pytest.approx(found.mentions[1], abs=1e-5)


def test_without_the_packages_the_message_says_what_brings_them(monkeypatch):
    monkeypatch.setattr(packages, "_WHOLE", set())
    monkeypatch.setattr(packages, "is_installed", lambda package: False)
    assert not embeddings_available()
    for name in ("all-MiniLM-L6-v2", "some/model"):
        with pytest.raises(EmbeddingsUnavailable, match="make packages"):
            SentenceEmbedder(name).encode(["tea"])


def test_importing_loads_none_of_the_heavy_packages():
    code = (
        "import sys, cqa_site.judging.embedding, annotation.judges.methods.classifier,"
        " annotation.judges.methods.storage, annotation.judges.methods.probabilities;"
        "print(sorted({'torch', 'sentence_transformers', 'transformers', 'sklearn', 'django'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0)
