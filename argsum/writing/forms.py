"""The form for a run in which a language model writes key points for a system."""

from typing import Any

from django import forms
from django.db.models import Count
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.keypoints.actions.system_runs import WRITES_CLUSTERS
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.writing.actions.prompts import COUNTS, OF_VARIANT, PROMPTS
from argsum.writing.actions.runs import ARGUMENTS, KIND, WORDS, target_of, writable
from cqa_site.people.models import Study, User
from cqa_site.runs.forms.plan import RunPlanForm, differing
from cqa_site.web.pages import offer

MOST_KEY_POINTS = 60
# Tokens per key point in a reply.
TOKENS = 40


class WritingForm(RunPlanForm):
    kind = KIND
    prompt_kinds = tuple(PROMPTS)

    system_run: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("System run"), queryset=None, empty_label=None, widget=forms.HiddenInput
    )
    settings = forms.MultipleChoiceField(
        label=lazy("Settings"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=lazy("Default: all. Other settings remain pending."),
    )
    fewest = forms.IntegerField(
        label=lazy("Minimum key points"), required=False, min_value=1, max_value=MOST_KEY_POINTS
    )
    most = forms.IntegerField(
        label=lazy("Maximum key points"), required=False, min_value=1, max_value=MOST_KEY_POINTS
    )
    words = forms.IntegerField(
        label=lazy("Maximum words per key point"), initial=WORDS, min_value=3, max_value=60
    )
    most_arguments = forms.IntegerField(
        label=lazy("Maximum arguments shown"),
        initial=ARGUMENTS,
        min_value=3,
        max_value=10_000,
        help_text=lazy("For each cell or cluster, best quality first."),
    )

    max_tokens = differing(
        "max_tokens",
        initial=1_500,
        help_text=lazy(
            "About 40 per key point. A truncated reply is requested once more with twice as many "
            "tokens."
        ),
    )

    def __init__(
        self,
        *args: Any,
        study: Study,
        actor: User,
        system_run: SystemRun | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, study=study, actor=actor, **kwargs)
        offer(self, system_run=writable(study))
        self.fields["replicates"].widget = forms.HiddenInput()
        self.waiting = system_run
        if system_run is not None:
            self._fit(system_run)

    def _fit(self, system_run: SystemRun) -> None:
        """Offer only the choices that suit this system run."""
        kind = OF_VARIANT[system_run.variant]
        self.fields["system_run"].initial = system_run.pk
        self.fields["fewest"].initial, self.fields["most"].initial = COUNTS.get(kind, (1, 1))
        settings = [
            (setting, f"{setting} · " + ngettext("%d cell", "%d cells", n) % n)
            for setting, n in waiting_settings(system_run)
        ]
        prompts = self.study.prompt_versions.filter(kind=kind).order_by("-number")
        offer(self, prompt=prompts, settings=settings)

    @property
    def writes_lists(self) -> bool:
        """Whether the run writes for whole cells, where the number of key points is free."""
        return self.waiting is not None and OF_VARIANT[self.waiting.variant] in COUNTS

    def clean(self) -> dict[str, Any]:
        """Check fields that depend on each other."""
        data = super().clean()
        chosen = data.get("system_run")
        if chosen is None:
            return data
        wanted = OF_VARIANT[chosen.variant]
        if "prompt" in data and data["prompt"].kind != wanted:
            self.complain(
                "prompt", _("This run needs a prompt of the kind “%s”.") % PROMPTS[wanted].name
            )
        if (data.get("fewest") or 0) > (data.get("most") or MOST_KEY_POINTS):
            self.complain("fewest", _("The minimum is larger than the maximum."))
        if data.get("replicates") != 1:
            self.complain("replicates", _("Only one reply per request is possible."))
        return data

    @property
    def tokens_wanted(self) -> int | None:
        data = self.cleaned_data
        most = self._largest()
        if not data["max_tokens"] or data["max_tokens"] >= TOKENS * most:
            return None
        return 2 * TOKENS * most

    @property
    def target(self) -> dict[str, Any]:
        data = self.cleaned_data
        is_about_clusters = data["system_run"].variant in WRITES_CLUSTERS
        return target_of(
            data["system_run"],
            settings=data["settings"] if is_about_clusters else (),
            fewest=data["fewest"],
            most=data["most"],
            words=data["words"],
            most_arguments=data["most_arguments"],
        )

    def _largest(self) -> int:
        """Return the approximate number of key points in the longest reply."""
        run = self.cleaned_data["system_run"]
        if run.variant == SystemRun.Variant.LOCAL:
            return 1
        if run.variant == SystemRun.Variant.GLOBAL:
            rows = run.sets.filter(state=SummarySet.State.WAITING)
            return max(
                (max(ids) + 1 for ids in rows.values_list("clusters", flat=True)), default=1
            )
        return int(self.cleaned_data["most"] or COUNTS[OF_VARIANT[run.variant]][1])


def waiting_settings(system_run: SystemRun) -> list[tuple[str, int]]:
    """Return each setting whose clusters have no key points yet, with its number of cells."""
    rows = system_run.sets.filter(state=SummarySet.State.WAITING).order_by()
    counted = rows.values_list("setting").annotate(n=Count("pk"))
    return list(counted.order_by("setting"))
