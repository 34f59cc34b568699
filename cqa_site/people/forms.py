"""Forms about people; every form lists the fields that may change."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .models import (
    INVITATION_LIFETIME,
    ApiToken,
    Invitation,
    Membership,
    ParticipantLink,
    Role,
    Study,
    User,
)


class StudyForm(forms.ModelForm):
    """What a study is called."""

    class Meta:
        model = Study
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 4})}
        help_texts = {
            "name": _("Every member sees it, crowd participants included."),
            "description": _("What is studied, for the team. Members see it on the overview."),
        }


class NameForm(forms.ModelForm):
    """How a person is shown to the researchers of their studies."""

    class Meta:
        model = User
        fields = ["name"]
        help_texts = {"name": _("Researchers of your studies see it.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = True
        self.fields["name"].widget.attrs["autocomplete"] = "name"


class TokenForm(forms.ModelForm):
    """A new key for the REST interface."""

    class Meta:
        model = ApiToken
        fields = ["name", "scope"]
        help_texts = {"name": _("What will use it, for example: evaluation notebook.")}


class InvitationForm(forms.ModelForm):
    """A new invitation."""

    days = forms.IntegerField(
        label=_("Days valid"), min_value=1, max_value=90, initial=INVITATION_LIFETIME.days
    )

    class Meta:
        model = Invitation
        fields = ["note", "role"]
        help_texts = {"note": _("A reminder for you; the person does not see it.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["note"].required = True
        self.fields["role"].choices = Role.choices  # no empty choice: annotator is the usual one


class RoleForm(forms.ModelForm):
    """The role of a member."""

    class Meta:
        model = Membership
        fields = ["role"]


class NewPersonForm(forms.Form):
    """The account of somebody who was invited."""

    name = forms.CharField(
        label=_("Your name"),
        max_length=120,
        help_text=_("Researchers of the study see it."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("E-mail"), widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=1_000,
        strip=False,
        help_text=_("12 characters or more; a few unrelated words are good."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_email(self) -> str:
        """Addresses are kept in lower case."""
        return self.cleaned_data["email"].strip().lower()

    def clean(self) -> dict[str, Any]:
        """Refuse passwords that are common or look like the person's own data."""
        data = super().clean()
        person = User(name=data.get("name", ""), email=data.get("email"))
        if data.get("password"):
            try:
                validate_password(data["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return data

    def refuse_email(self) -> None:
        """Say that another account has the address."""
        self.add_error(
            "email", _("This address cannot be used. If you have an account, sign in with it.")
        )


class ParticipantLinkForm(forms.ModelForm):
    """A new link for a crowd platform."""

    days = forms.IntegerField(label=_("Days valid"), min_value=1, max_value=365, initial=30)

    class Meta:
        model = ParticipantLink
        fields = [
            "platform",
            "required_items",
            "max_participants",
            "completed_code",
            "screened_out_code",
            "no_work_code",
            "fault_code",
            "participant_param",
            "study_param",
            "session_param",
        ]
        labels = {
            "participant_param": _("Parameter: participant"),
            "study_param": _("Parameter: study"),
            "session_param": _("Parameter: session"),
        }
        help_texts = {
            "required_items": _("Labelled or skipped items, control items included."),
            "completed_code": _("All codes come from the platform; each must differ."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["study_param"].required = self.fields["session_param"].required = False
        self.fields["required_items"].min_value = 1
        for name in ("required_items", "max_participants"):
            self.fields[name].validators.append(_positive)

    def clean(self) -> dict[str, Any]:
        """One code per outcome, one name per parameter."""
        data = super().clean()
        codes = [data.get(name) for name in CODES if data.get(name)]
        if len(set(codes)) < len(codes):
            self.add_error("completed_code", _("Each outcome needs a code of its own."))
        params = [data.get(name) for name in PARAMS if data.get(name)]
        if len(set(params)) < len(params):
            self.add_error("participant_param", _("Each parameter needs a name of its own."))
        return data

    def link_fields(self) -> dict[str, Any]:
        """The cleaned values as fields of a link."""
        fields = dict(self.cleaned_data)
        fields["expires_at"] = timezone.now() + timedelta(days=fields.pop("days"))
        return fields


CODES = ("completed_code", "screened_out_code", "no_work_code", "fault_code")
PARAMS = ("participant_param", "study_param", "session_param")


def _positive(value: int) -> None:
    if value < 1:
        raise forms.ValidationError(_("At least 1."))
