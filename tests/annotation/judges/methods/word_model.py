"""What sentence embeddings ask of torch and sentence-transformers, without either."""

import sys
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace

import numpy as np

WIDTH = 4
LAYERS = 4  # the input of the first one, and three more


class Tensor:
    """An array as torch hands it out."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def float(self):
        return self

    def numpy(self):
        return self.values

    def tolist(self):
        return self.values.tolist()


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


def pretend_torch(patch, *, known=True):
    """Have imports of torch and sentence-transformers find something that loads at once."""
    torch = ModuleType("torch")
    torch.threads, torch.autocasts = [], []
    torch.set_num_threads = torch.threads.append
    torch.inference_mode = nullcontext
    torch.bfloat16 = "16 bits"
    torch.autocast = lambda *given: torch.autocasts.append(given) or nullcontext()
    torch.cpu = SimpleNamespace(
        _is_avx512_bf16_supported=lambda: known, _is_amx_tile_supported=lambda: False
    )
    transformers = ModuleType("sentence_transformers")
    transformers.SentenceTransformer = WordModel
    patch.setitem(sys.modules, "torch", torch)
    patch.setitem(sys.modules, "sentence_transformers", transformers)
    return torch
