"""What bodies of all kinds share: a round, its items and its people, and a decision."""

from typing import Any, ClassVar

from django import forms
from rest_framework import serializers

from cqa_site.api.form_bodies import body_field
from cqa_site.api.inputs import Input
from cqa_site.api.serializers import ReadSerializer

from ..forms.plan import PlanForm
from ..qualifying import DECISIONS, EXCLUSIONS, LONGEST_REASON


class ExclusionInput(Input):
    """Whether somebody's work is taken out of the figures, or back into them, and why."""

    decision = serializers.ChoiceField(list(EXCLUSIONS))
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True)


class QualificationInput(ExclusionInput):
    """The same, or whether somebody may work whatever the examples say."""

    decision = serializers.ChoiceField(list(DECISIONS))


class RoundSerializer(ReadSerializer):
    """A round with its plan, and how far it is: ``done`` of ``wanted``.

    A child names its form, and in ``Meta.fields`` what it shows beside the plan; a field that it
    declares replaces the one that is made from the form.
    """

    form: ClassVar[type[PlanForm]]
    wanted = serializers.IntegerField(read_only=True)
    done = serializers.IntegerField(read_only=True)

    class Meta:
        fields = ["id", "state", "wanted", "done", "created_at", "opened_at", "closed_at"]

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """The plan, and what the child shows."""
        plan = {name: self._planned(name) for name in self.form.base_fields}
        return plan | super().get_fields()

    def _planned(self, name: str) -> serializers.Field[Any, Any, Any, Any]:
        field, column = self.form.base_fields[name], self.form.column(name)
        if column is None:
            # A round that was not planned here keeps no plan: shown is what a form begins with.
            return body_field(
                field, read_only=True, source=f"recipe.{name}", default=lambda: _begun(field)
            )
        source: dict[str, Any] = {"source": f"{name}.public_id"} if column.is_relation else {}
        return body_field(field, read_only=True, **source)


def _begun(field: forms.Field) -> Any:
    if field.initial is not None:
        return field.initial
    return field.to_python(None) if field.required else field.clean(None)


class ItemSerializer(ReadSerializer):
    """One thing of a round, with how many sheets it asks for and has."""

    wanted = serializers.IntegerField(read_only=True)
    done = serializers.IntegerField(read_only=True)

    class Meta:
        fields = ["position", "wanted", "done"]


class PersonSerializer(serializers.Serializer[Any]):
    """What one person has done in a round; ``id`` is the rater's."""

    id = serializers.UUIDField(source="rater.public_id", read_only=True)
    name = serializers.CharField(source="rater.pseudonym", read_only=True)
    sheets = serializers.IntegerField(read_only=True)
    repeats = serializers.IntegerField(read_only=True)
    extras = serializers.IntegerField(read_only=True)
    begun = serializers.IntegerField(read_only=True)
    minutes = serializers.IntegerField(read_only=True)
    last_at = serializers.DateTimeField(read_only=True, allow_null=True)
    excluded_at = serializers.DateTimeField(
        source="place.excluded_at", read_only=True, allow_null=True
    )
