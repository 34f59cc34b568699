"""Forms about people; every form lists the fields that users may change."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from cqa_site.web.navigation import paths
from .models import INVITATION_LIFETIME, ApiToken, Invitation, Membership, Role, Study, User


class StudyForm(forms.ModelForm):
    class Meta:
        model = Study
        fields = ["name", "goal", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 4})}
        help_texts = {
            "name": _("All members see this name, including crowd participants."),
            "description": _("The topic of the study. Members see it on the overview."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        label, first = self.fields["goal"].label, paths()[0].key
        offered = [(path.key, path.question) for path in paths()]
        self.fields["goal"] = forms.ChoiceField(
            label=label,
            choices=offered,
            initial=first,
            required=False,
            widget=forms.RadioSelect,
            help_text=_(
                "The overview guides you to this goal step by step. Everything else stays "
                "available."
            ),
        )


class NameForm(forms.ModelForm):
    """A form for a person's name, which the researchers of their studies see."""

    class Meta:
        model = User
        fields = ["name"]
        help_texts = {"name": _("Researchers in your studies see this name.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = True
        self.fields["name"].widget.attrs["autocomplete"] = "name"


class KeysForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["shortcuts"]
        labels = {"shortcuts": _("Letter, digit and symbol keys")}
        help_texts = {
            "shortcuts": _(
                "Arrow keys, Enter, Escape and keys with Ctrl always work. Every "
                "shortcut also has a button."
            )
        }
        widgets = {"shortcuts": forms.RadioSelect}


class TokenForm(forms.ModelForm):
    class Meta:
        model = ApiToken
        fields = ["name", "scope"]
        help_texts = {
            "name": _("The program that uses the token, for example an evaluation notebook.")
        }


class InvitationForm(forms.ModelForm):
    days = forms.IntegerField(
        label=_("Days valid"), min_value=1, max_value=90, initial=INVITATION_LIFETIME.days
    )

    class Meta:
        model = Invitation
        fields = ["note", "role", "leads_to"]
        widgets = {"leads_to": forms.HiddenInput}
        help_texts = {"note": _("Not shown to the person you invite.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["note"].required = True
        if isinstance(role := self.fields["role"], forms.ChoiceField):
            role.choices = Role.choices  # no empty choice, because annotator is the usual role

    def clean_leads_to(self) -> str:
        address: str = self.cleaned_data["leads_to"]
        if address and not address.startswith(
            reverse("study", args=[self.instance.study.public_id])
        ):
            raise forms.ValidationError(_("This is not a page of this study."))
        return address


class RoleForm(forms.ModelForm):
    class Meta:
        model = Membership
        fields = ["role"]


class NewPersonForm(forms.Form):
    name = forms.CharField(
        label=_("Your name"),
        max_length=120,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    email = forms.EmailField(
        label=_("Email"),
        help_text=_("The study's researchers can see your name and email address."),
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=1_000,
        strip=False,
        help_text=_("Use 12 characters or more. A few unrelated words work well."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_email(self) -> str:
        return self.cleaned_data["email"].strip().lower()

    def clean(self) -> dict[str, Any]:
        """Reject passwords that are common or similar to the person's own data."""
        data = super().clean() or {}
        person = User(name=data.get("name", ""), email=data.get("email"))
        if data.get("password"):
            try:
                validate_password(data["password"], person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return data

    def refuse_email(self) -> None:
        self.add_error(
            "email", _("This address cannot be used. If you already have an account, sign in.")
        )


class FirstAdministratorForm(NewPersonForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = _("Everyone you work with sees this name.")
        self.fields["email"].help_text = ""
