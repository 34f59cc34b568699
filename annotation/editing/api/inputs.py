"""What the interface takes about editing rounds, their tasks and discussions."""

from rest_framework import serializers

from annotation.editing.forms import LONGEST_COMMENT, RoundForm
from cqa_site.api.form_bodies import FormInput
from cqa_site.api.inputs import Input


class EditingRoundInput(FormInput):
    """Who edits what; what is left out keeps its default, or its value on a change."""

    form = RoundForm
    most_chosen = 200


class RoundCommentInput(Input):
    """A word in the discussion of one calibration answer of the round."""

    answer = serializers.UUIDField()
    text = serializers.CharField(max_length=LONGEST_COMMENT)
