"""Bodies about studies and their people."""

from rest_framework import serializers

from cqa_site.api.inputs import Input
from cqa_site.people.models import INVITATION_LIFETIME, Role


class StudyInput(Input):
    """What a study is called."""

    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, required=False)


class MemberInput(Input):
    """What a member may do, and whether the study is open to them; both may be left out."""

    role = serializers.ChoiceField(Role.choices, required=False)
    is_active = serializers.BooleanField(required=False)


class InvitationInput(Input):
    """For whom an invitation is, with which role and for how long."""

    note = serializers.CharField(max_length=120)
    role = serializers.ChoiceField(Role.choices)
    days = serializers.IntegerField(min_value=1, max_value=90, default=INVITATION_LIFETIME.days)
