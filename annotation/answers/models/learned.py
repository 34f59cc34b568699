"""What a system's model was trained on."""

from django.db import models


class LearnedComparison(models.Model):
    """Two objects of which a system's model has seen answers while it was trained.

    No question about them tests that system, nor another one of the study that asks for the same
    model: they are not asked, and what they brought counts on no board.
    """

    system = models.ForeignKey(
        "annotation.System", models.CASCADE, related_name="learned", db_index=False
    )
    comparison = models.ForeignKey(
        "annotation.Comparison", models.CASCADE, related_name="learned_by"
    )
    # The file of pairs, or who said so.
    source = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["system", "comparison"], name="learned_once")
        ]

    def __str__(self) -> str:
        return f"{self.system}: {self.comparison}"
