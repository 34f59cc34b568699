"""What the interface says about groups, time and the report of an analysis."""

from rest_framework import serializers

from cqa_site.api.serializers import public_id


class ShareSerializer(serializers.Serializer):
    """k of n comments with an exact 95 % interval, 0–1."""

    k = serializers.IntegerField()
    n = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class ShareDifferenceSerializer(serializers.Serializer):
    """One share minus another with a 95 % interval, −1 to 1; null where too little is known."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class GroupSerializer(serializers.Serializer):
    """A value of the column; groups below five comments are in no test."""

    value = serializers.CharField()
    comments = serializers.IntegerField(source="n")
    is_small = serializers.BooleanField()


class InGroupSerializer(serializers.Serializer):
    """A key point in one group, in the order of the groups."""

    share = ShareSerializer()
    difference = ShareDifferenceSerializer(
        allow_null=True, help_text="To the other of two groups, or to all others together."
    )
    p = serializers.FloatField(allow_null=True, help_text="Of the difference, after Holm.")


class ComparedPointSerializer(serializers.Serializer):
    """A key point in all groups; ``p`` is corrected over all key points (Holm)."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")
    share = ShareSerializer(source="found.all")
    p_alone = serializers.FloatField(source="found.p_alone", allow_null=True)
    p = serializers.FloatField(source="found.p", allow_null=True)
    test = serializers.CharField(source="found.test", allow_blank=True)
    groups = InGroupSerializer(source="found.groups", many=True)


class BarredColumnSerializer(serializers.Serializer):
    """A column that forms no groups, and why."""

    name = serializers.CharField()
    reason = serializers.CharField()


class GroupsSerializer(serializers.Serializer):
    """Key points by the groups of one column; ``attribute`` is null where no column forms any."""

    attribute = serializers.CharField(allow_null=True)
    attributes = serializers.ListField(child=serializers.CharField())
    barred = BarredColumnSerializer(many=True)
    comments = serializers.IntegerField(help_text="That were counted.")
    waiting = serializers.IntegerField(help_text="That came later and were not placed yet.")
    without = serializers.IntegerField(help_text="Without a value in the column.")
    finding = serializers.CharField(allow_blank=True)
    groups = GroupSerializer(many=True)
    key_points = ComparedPointSerializer(many=True)


class PeriodSerializer(serializers.Serializer):
    """A period by its first day, and how many comments were written in it."""

    start = serializers.DateField()
    comments = serializers.IntegerField()


class PointTrendSerializer(serializers.Serializer):
    """A key point over time; ``shares`` in the order of the periods."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")
    share = ShareSerializer(source="found.all")
    change = ShareDifferenceSerializer(
        source="found.change",
        allow_null=True,
        help_text="Along a straight line from the first period to the last.",
    )
    p_alone = serializers.FloatField(source="found.p_alone", allow_null=True)
    p = serializers.FloatField(source="found.p", allow_null=True, help_text="After Holm.")
    test = serializers.CharField(source="found.test", allow_blank=True)
    shares = ShareSerializer(source="found.shares", many=True)


class TrendsSerializer(serializers.Serializer):
    """Key points over time; ``period`` is null where dates are lacking or all the same."""

    period = serializers.CharField(allow_null=True)
    periods = serializers.ListField(child=serializers.CharField(), help_text="Those possible.")
    undated = serializers.IntegerField()
    finding = serializers.CharField(allow_blank=True)
    times = PeriodSerializer(many=True)
    key_points = PointTrendSerializer(many=True)


class FactSerializer(serializers.Serializer):
    """A name and what stands for it."""

    name = serializers.CharField()
    text = serializers.CharField()


class ReportedPointSerializer(serializers.Serializer):
    """A key point with its share of all comments, and quotations."""

    key_point = public_id("point")
    text = serializers.CharField(source="point.text")
    share = ShareSerializer()
    quotations = serializers.ListField(child=serializers.CharField())
    writer = serializers.CharField(
        allow_blank=True, help_text="Language model and prompt; empty where none wrote it."
    )


class EditsSerializer(serializers.Serializer):
    """What one person did how often."""

    person = serializers.CharField()
    edits = FactSerializer(many=True)


class ReportSerializer(serializers.Serializer):
    """The report of an analysis; groups and time have addresses of their own."""

    topic = serializers.CharField()
    finding = serializers.CharField()
    facts = FactSerializer(many=True)
    key_points = ReportedPointSerializer(many=True)
    further_key_points = serializers.IntegerField()
    rest = ShareSerializer(help_text="Statements that fit no key point, of all.")
    of_the_rest = serializers.ListField(child=serializers.CharField())
    edits = EditsSerializer(many=True)
    undone = serializers.IntegerField()
    caveats = serializers.ListField(child=serializers.CharField())
