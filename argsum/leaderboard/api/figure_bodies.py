"""What the interface says about leaderboard, metrics and agreement."""

from rest_framework import serializers

from argsum.leaderboard.methods.system_board import FIGURES, SELECTIONS


class CellMeanSerializer(serializers.Serializer):
    """A mean over ``n`` cells with a 95 % interval over their topics, from 10 on."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(source="n_values")
    reason = serializers.CharField(allow_null=True, help_text="Why something is missing.")


class BoardCellSerializer(serializers.Serializer):
    """A system on one cell: the set that stands for it, and its figures."""

    cell = serializers.UUIDField()
    summary_set = serializers.UUIDField()
    setting = serializers.CharField()
    values = serializers.DictField(child=serializers.FloatField(allow_null=True))
    other_settings = serializers.DictField(
        child=serializers.CharField(),
        help_text="Indices of an oracle that are from another setting than the row, and which.",
    )


class BoardRowSerializer(serializers.Serializer):
    """One system; ``setting`` is null where it differs from cell to cell (an oracle)."""

    system = serializers.CharField()
    selection = serializers.ChoiceField([*SELECTIONS, "only"])
    criterion = serializers.CharField(help_text="By which figure the setting was chosen.")
    setting = serializers.CharField(allow_null=True)
    settings = serializers.IntegerField()
    figures = serializers.DictField(child=CellMeanSerializer(), help_text=", ".join(FIGURES))
    excluding_with_zeros = serializers.FloatField(
        allow_null=True,
        help_text="The index `excluding` over all cells with clusters, 0 where too little is.",
    )
    cells = BoardCellSerializer(many=True)


class SourceSerializer(serializers.Serializer):
    """Where coverage or redundancy may come from."""

    key = serializers.CharField()
    dimension = serializers.CharField()
    sets = serializers.IntegerField()


class SummaryBoardSerializer(serializers.Serializer):
    """The leaderboard of systems, best first; ``system_rows`` is empty without any set."""

    dataset = serializers.UUIDField(allow_null=True)
    split = serializers.CharField()
    coverage = serializers.CharField()
    redundancy = serializers.CharField()
    weight = serializers.FloatField()
    selection = serializers.ChoiceField(SELECTIONS)
    least_share = serializers.FloatField()
    without = serializers.CharField(
        allow_blank=True, help_text="Systems with this in their names are left out."
    )
    is_oracle = serializers.BooleanField()
    cells = serializers.IntegerField()
    note = serializers.CharField()
    sources = SourceSerializer(many=True)
    system_rows = BoardRowSerializer(many=True)


class CorrelationSerializer(serializers.Serializer):
    """One metric against the people's mean of its dimension."""

    metric = serializers.CharField(source="source.metric")
    setting = serializers.CharField(source="source.setting")
    dimension = serializers.CharField(source="source.dimension")
    across = serializers.FloatField(source="found.across", allow_null=True)
    n = serializers.IntegerField(source="found.n")
    within_mean = serializers.FloatField(source="found.within_mean", allow_null=True)
    within_sd = serializers.FloatField(source="found.within_sd", allow_null=True)
    per_cell = serializers.DictField(source="found.per_cell", child=serializers.FloatField())
    constant_cells = serializers.ListField(
        source="found.constant_cells", child=serializers.CharField()
    )
    small_cells = serializers.ListField(source="found.small_cells", child=serializers.CharField())
    without = serializers.IntegerField(help_text="Sets with a reason instead of a value.")


class CorrelationsSerializer(serializers.Serializer):
    """Every metric that a judged set has; Pearson."""

    without = serializers.CharField(
        allow_blank=True, help_text="Systems with this in their names are left out."
    )
    left_out = serializers.IntegerField(help_text="Judged sets of these systems.")
    metrics = CorrelationSerializer(many=True)


class MetricPointSerializer(serializers.Serializer):
    """One judged set: the metric, and the people's mean of its dimension."""

    summary_set = serializers.UUIDField(source="public_id")
    cell = serializers.CharField()
    system = serializers.CharField()
    setting = serializers.CharField()
    metric = serializers.FloatField()
    people = serializers.FloatField()


class MetricPointsSerializer(serializers.Serializer):
    """The sets behind one correlation, by cell and system."""

    without = serializers.CharField(allow_blank=True)
    points = MetricPointSerializer(many=True)


class RaterPairSerializer(serializers.Serializer):
    """Two raters and the sets that both judged; ``value`` is Pearson's correlation."""

    first = serializers.CharField()
    second = serializers.CharField()
    n = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)


class RepeatSerializer(serializers.Serializer):
    """One rater against their own first judgement."""

    name = serializers.CharField()
    n = serializers.IntegerField()
    same = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)


class CounterFiguresSerializer(serializers.Serializer):
    """How much one rater judged."""

    name = serializers.CharField()
    sets = serializers.IntegerField()
    unsure = serializers.DictField(child=serializers.IntegerField())
    missing = serializers.DictField(child=serializers.IntegerField())


class DimensionSerializer(serializers.Serializer):
    """Agreement about coverage or redundancy."""

    dimension = serializers.CharField()
    mean_pearson = serializers.FloatField(source="pairs.mean", allow_null=True)
    pairs = RaterPairSerializer(source="pairs.pairs", many=True)
    judges = RaterPairSerializer(many=True, help_text="Language models beside single people.")
    repeats = RepeatSerializer(many=True)
    alpha = serializers.DictField(source="alpha.as_dict", help_text="Interval level.")


class PeopleAgreementSerializer(serializers.Serializer):
    """Agreement of the people who judge sets."""

    sets = serializers.IntegerField()
    raters = CounterFiguresSerializer(many=True)
    dimensions = DimensionSerializer(many=True)
