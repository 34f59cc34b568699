"""Toy sentences whose relevance follows from how they are made, and a toy embedder."""

import numpy as np

PAIRS = [("tea", "coffee"), ("Rust", "Go"), ("oak", "pine"), ("bus", "tram"), ("ink", "toner")]
PAIRS += [("silk", "wool"), ("salt", "sugar"), ("lake", "river")]
FORMS = {
    0: ("We stayed at home for the whole day.", "What a long week that has been!"),
    1: ("I had {0} once and it was fine.", "There is no way to avoid {1} in this town."),
    2: ("{0} is better than {1}.", "My aunt says {1} is worse than {0}."),
    3: ("{0} is lighter and cheaper than {1}.", "{1} has a better structure than {0} ever had."),
}


def toy_sentences():
    """Sentences, objects, labels: each form for each pair, with a tail that says nothing."""
    rows = [
        (f"{form.format(*pair)} {tail}".strip(), pair, label)
        for pair in PAIRS
        for label, forms in FORMS.items()
        for form in forms
        for tail in ("", "Really.")
    ]
    sentences, objects, labels = (list(column) for column in zip(*rows, strict=True))
    return sentences, objects, np.array(labels)


class LetterEmbedder:
    """Frequencies of letters: cheap, deterministic and the same for equal text."""

    name = "letters"

    def encode(self, texts, progress=None):
        vectors = np.array([self._letters(text) for text in texts], dtype=np.float32)
        vectors = vectors.reshape(-1, 26)
        if progress is not None:
            progress(len(texts), len(texts))
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)

    def encode_spans(self, texts, spans, progress=None):
        parts = [
            [text, *(" ".join(text[start:stop] for start, stop in group) for group in groups)]
            for text, groups in zip(texts, spans, strict=True)
        ]
        return np.concatenate(
            [self.encode([row[slot] for row in parts], progress) for slot in range(4)], axis=1
        )

    def _letters(self, text):
        return [text.lower().count(chr(97 + place)) for place in range(26)]
