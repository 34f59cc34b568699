"""Sentence vectors that were computed once."""

from django.db import models


class TextEmbedding(models.Model):
    """The vector of one text by one sentence-embedding model, kept so that it is made once."""

    sha256 = models.CharField(max_length=64)
    model = models.CharField(max_length=120)
    # Little-endian float32.
    vector = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sha256", "model"], name="text_embedding_once")
        ]
