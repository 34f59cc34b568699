"""Export files of a round."""

from django.db import models
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from cqa_site.files import models as files


class ExportFile(files.ExportFile):
    """A file created in the background from one snapshot."""

    class Content(models.TextChoices):
        VOTES = "votes", _("Votes")
        FINAL_LABELS = "final_labels", _("Final labels")
        ANNOTATORS = "annotators", _("Annotators")
        FIGURES = "figures", _("Figures from the snapshot")
        CROWDKIT = "crowdkit", _("crowd-kit columns (task, worker, label)")

    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="export_files"
    )
    snapshot = models.ForeignKey(
        "annotation.Snapshot", models.CASCADE, related_name="export_files"
    )
    content = models.CharField(max_length=12, choices=Content)

    @property
    def shown_name(self) -> str:
        """File name with the round, the number of the snapshot and the content."""
        label_round = slugify(self.label_round.name, allow_unicode=True)[:60] or "round"
        return f"{label_round}-snapshot-{self.snapshot.number}-{self.content}.{self.format}"
