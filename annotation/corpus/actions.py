"""Store sentence vectors in the database, so that a model embeds each text only once."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from annotation.corpus.models import TextEmbedding
from annotation.corpus.reports import STORED, sentence_key, vector_key
from cqa_site.judging.embedding import SentenceEmbedder, Spans

# Number of texts embedded and stored together; a killed worker repeats at most this number.
TOGETHER = 256

Progress = Callable[[int, int], None]
Vectors = NDArray[np.float32]
Read = Callable[[list[int]], Vectors]


class StoredVectors:
    """An embedder that stores its vectors.

    Parameters
    ----------
    embedder
        Computes the vectors; loaded only if a vector is missing.
    """

    def __init__(self, embedder: SentenceEmbedder) -> None:
        self.embedder = embedder
        self.name = embedder.name

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Return the same vectors as `SentenceEmbedder.encode`."""
        keys = [sentence_key(text) for text in texts]

        def read(places: list[int]) -> Vectors:
            return self.embedder.encode([texts[at] for at in places])

        return self._all(keys, read, progress)

    def encode_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[Sequence[Spans]],
        progress: Progress | None = None,
    ) -> Vectors:
        """Return the same vectors as `SentenceEmbedder.encode_spans`."""
        keys = [vector_key("spans", text, parts) for text, parts in zip(texts, spans, strict=True)]

        def read(places: list[int]) -> Vectors:
            return self.embedder.encode_spans(
                [texts[at] for at in places], [spans[at] for at in places]
            )

        return self._all(keys, read, progress)

    def _all(self, keys: list[str], read: Read, progress: Progress | None) -> Vectors:
        """Return vectors in the order of the keys; call ``progress`` every few hundred vectors."""
        if not keys:
            return read([])
        parts = []
        for start in range(0, len(keys), TOGETHER):
            stop = min(start + TOGETHER, len(keys))
            parts.append(self._some(keys, start, stop, read))
            if progress is not None:
                progress(stop, len(keys))
        return np.concatenate(parts)

    def _some(self, keys: list[str], start: int, stop: int, read: Read) -> Vectors:
        wanted = keys[start:stop]
        rows = TextEmbedding.objects.filter(model=self.name, sha256__in=set(wanted))
        vectors = {
            key: np.frombuffer(bytes(vector), dtype=STORED)
            for key, vector in rows.values_list("sha256", "vector")
        }
        missing = {key: at for at, key in enumerate(wanted, start) if key not in vectors}
        if missing:
            new_vectors = read(list(missing.values()))
            vectors |= dict(zip(missing, new_vectors, strict=True))
            self._keep(list(missing), new_vectors)
        return np.stack([vectors[key] for key in wanted]).astype(np.float32)

    def _keep(self, keys: Sequence[str], vectors: Vectors) -> None:
        rows = (
            TextEmbedding(sha256=key, model=self.name, vector=vector.astype(STORED).tobytes())
            for key, vector in zip(keys, vectors, strict=True)
        )
        # Another worker may have embedded the same text; both vectors are equal.
        TextEmbedding.objects.bulk_create(rows, ignore_conflicts=True)
