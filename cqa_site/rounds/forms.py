"""Forms for a round's plan, workload and pay, for saving sheets, and for crowd links."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from math import ceil
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from cqa_site.people.models import Study, User
from cqa_site.web.pages import offer
from .drafts import DraftSubmission
from .kind import TaskKind, kind_of
from .models import OnboardingVersion, ParticipantLink, Place, Round
from .onboarding.steps import exercises_wanted

# Workload of a plan before anything is drawn: items, answers, time and money.

MOST_PAY = 100_000


@dataclass(frozen=True)
class Extent:
    """The workload of a plan.

    ``people`` is the minimum number of raters. ``answers`` is the number of requested answers,
    including answers to known items. ``seconds`` is the time for one answer, if known.
    """

    items: int
    answers: int
    people: int
    known: int = 0
    seconds: float | None = None

    @property
    def each(self) -> int:
        """Answers per person if the minimum number of people take part."""
        return ceil(self.answers / self.people) if self.people else 0

    @property
    def minutes_each(self) -> int | None:
        """Minutes per person; None if unknown."""
        return None if self.seconds is None else ceil(self.each * self.seconds / 60)

    @property
    def hours(self) -> float | None:
        """Total hours for all people; None if unknown."""
        return None if self.seconds is None else self.answers * self.seconds / 3600

    def cost(self, pay: Decimal | None) -> Decimal | None:
        if pay is None or self.hours is None:
            return None
        return (Decimal(self.hours) * pay).quantize(Decimal("0.01"))


class PayForm(forms.Form):
    """Hourly pay, used only for the estimate and not stored."""

    pay = forms.DecimalField(
        label=lazy("Hourly pay"),
        required=False,
        min_value=Decimal(0),
        max_value=MOST_PAY,
        decimal_places=2,
        help_text=lazy("For this estimate only, in your currency. It is not stored."),
    )

    @property
    def given(self) -> Decimal | None:
        decimal: Decimal | None = self.cleaned_data.get("pay") if self.is_valid() else None
        return decimal


# The largest integer that every database stores.
LARGEST = 2**31 - 1


class SaveForm(forms.Form):
    """A sheet as sent by a page.

    With JavaScript, the whole form is sent as one text. It contains the same fields that a form
    without JavaScript sends, so the same code reads both: a kind's ``read`` returns the content.
    """

    # Maximum number of characters, including the longest texts in percent-encoded UTF-8.
    longest = 1_000_000

    base_version = forms.IntegerField(min_value=0, max_value=LARGEST)
    client = forms.CharField(max_length=36, required=False)
    sequence = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    active_seconds = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    client_key = forms.CharField(max_length=64, required=False)

    def __init__(self, data: QueryDict, sheet: Any) -> None:
        super().__init__(data)
        text = forms.CharField(required=False, strip=False, max_length=self.longest)
        self.fields["text"] = text
        self.wrong: dict[str, str] = {}
        # The problem with content that may still be stored as a draft.
        self.unready = ""
        self.content = self.read(self.fields_of(data), sheet)

    def fields_of(self, data: QueryDict) -> QueryDict:
        """Return the form's fields, decoded if they are sent as one text."""
        return QueryDict(data.get("text", "")[: self.longest]) if "text" in data else data

    def read(self, data: QueryDict, sheet: Any) -> Any:
        """Return the content of the fields; collect errors by field in ``self.wrong``."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any] | None:
        for text in self.wrong.values():
            self.add_error(None, text)
        return super().clean()

    def sent(self) -> DraftSubmission:
        data = self.cleaned_data
        return DraftSubmission(
            content=self.content,
            base_version=data["base_version"],
            client=data["client"],
            sequence=data["sequence"] or 0,
            active_seconds=data["active_seconds"] or 0,
        )


# The form for the plan of a round, shared by the pages, the API and the command line.

LONGEST_INSTRUCTIONS = 20_000
# Legends with rows of field names.
Groups = tuple[tuple[Any, tuple[tuple[str, ...], ...]], ...]


# Fields about the time before the work, which all kinds store in the same columns.
BEFORE_WORK = ("onboarding", "shows_guideline")


def newest_versions(study: Study, own: int | None) -> QuerySet[OnboardingVersion]:
    """Return the newest version of each onboarding in a study, and the version in use."""
    versions = OnboardingVersion.objects.filter(onboarding__study=study)
    newest = OnboardingVersion.objects.filter(onboarding=OuterRef("onboarding"))
    last = Subquery(newest.order_by("-number").values("pk")[:1])
    rows = versions.filter(Q(pk=last) | Q(pk=own)).select_related("onboarding")
    return rows.order_by("onboarding__name", "-number")


def skip_share_field() -> forms.FloatField:
    """Return the field for the maximum share of skipped items, for kinds that allow skips."""
    return forms.FloatField(
        label=lazy("Maximum share of skipped items"),
        required=False,
        min_value=0,
        max_value=1,
        initial=0.2,
        help_text=lazy(
            "From 0 to 1, as a share of the items required from a crowd participant. One skip is "
            "always allowed, but skipping all items never is. Participants who skip more get a "
            "separate code. Members are only flagged. Leave empty for no limit."
        ),
    )


class RoundPlanForm(forms.Form):
    """A form for a draft round.

    A kind adds the fields that select its items, and ``plan()``.

    ``planned`` stores a plan and draws its items. A field is stored in the round's column of the
    same name or, if there is no such column, in the round's recipe.
    """

    kind: ClassVar[TaskKind]
    planned: ClassVar[Callable[..., Any]]
    # Legends with rows of fields shown side by side; fields that are not listed come last.
    groups: ClassVar[Groups] = ()
    # Optional fields, which are collapsed; see `cqa_site.web.templatetags.pages`.
    advanced: tuple[str, ...] = (
        "seed", "lease_minutes", "repeat_share", "skip_share", "instructions", "onboarding",
        "shows_guideline",
    )  # fmt: skip
    # Columns of the round that can change while people work.
    correctable: ClassVar[tuple[str, ...]] = ("name", "instructions", "skip_share", "onboarding")

    name = forms.CharField(label=lazy("Name"), max_length=120)
    repeat_share: forms.Field | None = forms.FloatField(
        label=lazy("Share of blind repeats"),
        min_value=0,
        max_value=0.5,
        initial=0,
        help_text=lazy(
            "Shows how well people agree with themselves. Repeated items are not "
            "marked. Default: 0."
        ),
    )
    lease_minutes: forms.Field | None = forms.IntegerField(
        label=lazy("Reservation time in minutes"),
        min_value=5,
        max_value=1440,
        initial=120,
        help_text=lazy("Counted from the last change. Drafts are always kept."),
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        min_value=0,
        max_value=LARGEST,
        initial=1,
        help_text=lazy("The same seed and the same items give the same round."),
    )
    instructions: forms.Field | None = forms.CharField(
        label=lazy("Instructions"),
        max_length=LONGEST_INSTRUCTIONS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=lazy("Shown next to the form. Markdown."),
    )
    onboarding = forms.ModelChoiceField(
        label=lazy("Steps before work starts"),
        queryset=OnboardingVersion.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label=lazy("None"),
        help_text=lazy("Consent, questions, quiz and training, as planned under Onboarding."),
    )
    shows_guideline = forms.BooleanField(
        label=lazy("Show the guideline before the first item"),
        required=False,
        initial=True,
        help_text=lazy("Once per person, if no steps before the work are chosen."),
    )

    def __init__(self, *args: Any, study: Study, round_: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.round = study, round_
        offer(self, onboarding=newest_versions(study, getattr(round_, "onboarding_id", None)))
        # The plan's own fields come between the name and the fields shared by all rounds.
        common = [base_field for base_field in RoundPlanForm.base_fields if base_field != "name"]
        own = [field for field in self.fields if field not in RoundPlanForm.base_fields]
        self.order_fields(["name", *own, *common])

    def clean_onboarding(self) -> OnboardingVersion | None:
        """Refuse steps that need known answers if rounds of this kind cannot have any."""
        version: OnboardingVersion | None = self.cleaned_data["onboarding"]
        if exercises_wanted(version) and not self.kind.can_train:
            raise forms.ValidationError(
                _(
                    "Work of this kind has no right answers to train or qualify on. Choose steps "
                    "without training and qualification."
                )
            )
        return version

    def keep_correctable(self) -> None:
        """Keep only the fields that can change while people work."""
        for name in set(self.fields) - set(self.correctable):
            del self.fields[name]
        self.advanced = ()
        if n := Place.objects.filter(round=self.round.pk, served__gt=0).count():
            text = ngettext(
                "%d person has begun; new steps come before their next item. Past work still "
                "counts. For training and qualification, the round uses examples from other "
                "rounds.",
                "%d people have begun; new steps come before their next item. Past work still "
                "counts. For training and qualification, the round uses examples from other "
                "rounds.",
                n,
            )
            self.fields["onboarding"].help_text = text % n

    @classmethod
    def usual(cls, study: Study) -> dict[str, Any]:
        """Return the initial values of a new plan, which depend on the study."""
        return {}

    @classmethod
    def begun(cls, study: Study) -> dict[str, Any]:
        fields = cls.base_fields.items()
        initial = {name: field.initial for name, field in fields if field.initial is not None}
        return initial | cls.usual(study)

    @classmethod
    def column(cls, name: str) -> Any:
        """Return the round's column with this name; None for a field stored in its recipe."""
        columns = cls.kind.Round._meta.concrete_fields
        return next((field for field in columns if field.name == name), None)

    def stored(self) -> dict[str, Any]:
        """Return the stored plan of the round, with ids for related rows that still exist."""
        return {name: _offered(field, self._kept(name)) for name, field in self.fields.items()}

    def _kept(self, name: str) -> Any:
        if self.column(name) is None:
            return self.round.recipe.get(name, self.fields[name].initial)
        value = getattr(self.round, name)
        return getattr(value, "public_id", value)

    @property
    def sections(self) -> list[tuple[Any, list[list[forms.BoundField]]]]:
        """The form's sections, as legends with rows of fields, excluding the collapsed fields."""
        named = {name for _legend, rows in self.groups for row in rows for name in row}
        rest = [(name,) for name in self.fields if name not in {*named, "name"}]
        blocks = []
        for legend, rows in (("", (("name",),)), *self.groups, ("", rest)):
            fields = [[self[name] for name in row if name not in self.advanced] for row in rows]
            if any(fields):
                blocks.append((legend, [row for row in fields if row]))
        return blocks

    @staticmethod
    def next_name(study: Study) -> str:
        """Return a default name for a new plan, avoiding the names of the study's other rounds."""
        names = set(Round.objects.filter(study=study).values_list("name", flat=True))
        free = (_("Round %d") % number for number in range(1, len(names) + 2))
        return next(name for name in free if name not in names)

    def extent(self) -> Extent | None:
        """Estimate the workload by counting, without drawing items.

        Returns None if a field other than the name is invalid.
        """
        return None if set(self.errors) - {"name"} else self.measure()

    def measure(self) -> Extent:
        """Estimate the workload from the cleaned fields, in a few queries."""
        raise NotImplementedError

    @property
    def plan_values(self) -> dict[str, Any]:
        """The cleaned fields of the kind's plan; the name may be empty in an estimate."""
        data = {"name": "", **self.cleaned_data}
        return {name: value for name, value in data.items() if name not in BEFORE_WORK}

    @transaction.atomic
    def store(self, actor: User) -> Any:
        """Store the plan as a draft and draw its items; raises RoundNotReady."""
        planned = self.planned(study=self.study, plan=self.plan(), actor=actor, round_=self.round)
        planned.onboarding = self.cleaned_data["onboarding"]
        planned.shows_guideline = self.cleaned_data["shows_guideline"]
        if planned.onboarding and planned.onboarding.text:
            planned.instructions = planned.onboarding.text
        planned.save(update_fields=["onboarding", "shows_guideline", "instructions"])
        return planned

    @property
    def picks_later(self) -> bool:
        """Whether a new round starts without items, because people pick them one by one."""
        return False

    def plan(self) -> Any:
        raise NotImplementedError

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = self.kind.Round._default_manager.filter(study=self.study, name=name)
        if self.round is not None:
            others = others.exclude(pk=self.round.pk)
        if others.exists():
            raise ValidationError(_("Another round of this study already has this name."))
        return name


def _offered(field: forms.Field, value: Any) -> Any:
    """Return the part of a stored value that can still be selected."""
    rows: Any = getattr(field, "queryset", None)
    if isinstance(field, forms.ModelMultipleChoiceField):
        there = rows.filter(public_id__in=value or ())
        return [str(key) for key in there.values_list("public_id", flat=True)]
    if isinstance(field, forms.ModelChoiceField):
        return value if value and rows.filter(public_id=value).exists() else None
    if isinstance(field, forms.MultipleChoiceField):
        return [choice for choice in value or () if field.valid_value(choice)]
    return value


# Forms for crowd links and fault reports.

CODES = ("completed_code", "screened_out_code", "no_work_code", "fault_code")
MORE_CODES = (
    "skips_code", "stopped_code", "declined_code", "failed_check_code", "not_qualified_code",
)  # fmt: skip
OPTIONAL = (*MORE_CODES, "return_url")
PARAMS = ("participant_param", "study_param", "session_param")


# Parameter names and return URLs of platforms, by their name in the page's URL.
PRESETS: dict[str, dict[str, str]] = {
    "prolific": {"platform": "Prolific"},
    "sona": {
        "platform": "SONA",
        "participant_param": "id",
        "study_param": "",
        "session_param": "",
        "return_url": "https://SCHOOL.sona-systems.com/webstudy_credit.aspx"
        "?experiment_id=NUMBER&credit_token=TOKEN&survey_code={participant}",
    },
    "connect": {
        "platform": "Connect",
        "participant_param": "participantId",
        "study_param": "projectId",
        "session_param": "assignmentId",
    },
    "pool": {
        "platform": "Student pool",
        "participant_param": "participant",
        "study_param": "",
        "session_param": "",
    },
}


class PlatformConnectionForm(forms.Form):
    """A link's study on its platform, and its secrets, which are never shown again."""

    platform_study = forms.RegexField(
        label=lazy("Study ID on the platform"),
        regex=r"^[A-Za-z0-9][A-Za-z0-9_.:@=-]{0,127}$",
        max_length=128,
        error_messages={"invalid": lazy("Copy the ID from the platform, without spaces.")},
    )
    hook_secret = forms.CharField(
        label=lazy("Webhook secret"),
        required=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=lazy("Signs the platform's reports about submissions."),
    )
    api_token = forms.RegexField(
        label=lazy("API token"),
        regex=r"^[\x21-\x7e]+$",
        required=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=lazy("Optional. Fetches submissions and sends payments."),
    )
    delete_secrets = forms.BooleanField(
        label=lazy("Delete the stored webhook secret and API token"),
        required=False,
        help_text=lazy("Also revoke the token on the platform."),
    )

    def __init__(self, *args: Any, link: ParticipantLink, **kwargs: Any) -> None:
        # There may be several of these forms on one page.
        kwargs["auto_id"] = f"link-{link.pk}-%s"
        kwargs["initial"] = {"platform_study": link.platform_study}
        super().__init__(*args, **kwargs)
        self.link = link
        stored = {"hook_secret": link.hook_ciphertext, "api_token": link.api_ciphertext}
        for name in filter(stored.get, stored):
            self.fields[name].widget.attrs["placeholder"] = _("Stored. Leave empty to keep it.")
        if not link.has_secrets:
            del self.fields["delete_secrets"]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("delete_secrets") and (data.get("hook_secret") or data.get("api_token")):
            raise ValidationError(_("Either enter new secrets or delete the stored ones."))
        return data


class FaultForm(forms.Form):
    comment = forms.CharField(
        label=lazy("What is not working?"),
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ParticipantLinkForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no ModelForm[…]
    days = forms.IntegerField(label=lazy("Days valid"), min_value=1, max_value=365, initial=30)
    return_url = forms.URLField(
        label=lazy("Return address"),
        required=False,
        max_length=300,
        assume_scheme="https",
        help_text=lazy(
            "Write {code} where the code goes and {participant} where the platform's ID goes. "
            "Can be empty only for Prolific."
        ),
    )

    advanced = ("days", *OPTIONAL, *PARAMS, "entry")

    class Meta:
        model = ParticipantLink
        fields = [
            "platform",
            "required_items",
            "max_participants",
            *CODES,
            *OPTIONAL,
            *PARAMS,
            "entry",
        ]
        labels = {
            "participant_param": lazy("Parameter: participant"),
            "study_param": lazy("Parameter: study"),
            "session_param": lazy("Parameter: session"),
        }
        help_texts = {
            "skips_code": lazy("If empty, the code for screened-out people is used."),
            "entry": lazy(
                "Prolific signs with “secure external study URL”. Signed entries need the "
                "platform's study ID, which you store after the link is created."
            ),
            "stopped_code": lazy("Also for people who withdraw. If empty, they get no code."),
            "declined_code": lazy("If empty, the code of people who stop early is used."),
            "failed_check_code": lazy("If empty, the code for screened-out people is used."),
            "not_qualified_code": lazy("If empty, the code for screened-out people is used."),
        }

    def __init__(self, *args: Any, round_: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kind = kind_of(round_)
        self.most_items = kind.most_items(round_)
        self.fields["required_items"].help_text = kind.counted()
        self.fields["entry"].required = False
        self.initial["required_items"] = usual_items(self.most_items)
        self.fields["study_param"].required = self.fields["session_param"].required = False
        vars(self.fields["required_items"]).update(min_value=1)
        for name in ("required_items", "max_participants"):
            self.fields[name].validators.append(MinValueValidator(1, lazy("At least 1.")))

    def clean_required_items(self) -> int:
        """Reject a number of items above the maximum per person, so that everybody can finish."""
        wanted: int = self.cleaned_data["required_items"]
        if not self.most_items:
            raise forms.ValidationError(
                lazy("The round has no items yet. Choose its items, or start it first.")
            )
        if wanted > self.most_items:
            text = ngettext(
                "One person can get at most %(most)s item in this round. Enter a lower number.",
                "One person can get at most %(most)s items in this round. Enter a lower number.",
                self.most_items,
            )
            raise forms.ValidationError(text, params={"most": self.most_items})
        return wanted

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        names = (*CODES, *MORE_CODES)
        codes = [data.get(name) for name in names if data.get(name)]
        if len(set(codes)) < len(codes):
            self.add_error("completed_code", lazy("Each outcome needs a different code."))
        params = [data.get(name) for name in PARAMS if data.get(name)]
        if len(set(params)) < len(params):
            self.add_error("participant_param", lazy("Each parameter needs a different name."))
        data["entry"] = data.get("entry") or ParticipantLink.Entry.IDS
        is_prolific = str(data.get("platform", "")).strip().lower() == "prolific"
        if data["entry"] != ParticipantLink.Entry.IDS and not (
            is_prolific and len(params) == len(PARAMS)
        ):
            text = lazy("Only Prolific can sign entries, and all three parameters need names.")
            self.add_error("entry", text)
        return data

    def link_fields(self) -> dict[str, Any]:
        fields = dict(self.cleaned_data)
        fields["expires_at"] = timezone.now() + timedelta(days=fields.pop("days"))
        return fields


def usual_items(most_items: int) -> int:
    """Return the default number of items that a link requires."""
    usual: int = ParticipantLink._meta.get_field("required_items").default
    return min(usual, most_items) or usual
