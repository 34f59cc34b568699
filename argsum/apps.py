from django.apps import AppConfig


class ArgsumConfig(AppConfig):
    name = "argsum"
    label = "argsum"

    def ready(self) -> None:
        from annotation.demo.actions import add_part
        from argsum.analysis.reports import extensions
        from argsum.auditing.actions import AUDITING
        from argsum.auditing.blindness import answerable_rounds
        from argsum.auditing.reports.parts import AUDIT_CORRECTIONS
        from argsum.background import register_kinds
        from argsum.counting.actions.rounds import COUNTING
        from argsum.counting.imports.formats import register_count_imports
        from argsum.datasets.imports.formats import register_argument_imports
        from argsum.imports.formats import register_summary_score_imports
        from argsum.leaderboard.actions import KEY_POINTS
        from argsum.navigation import COMMENTS, DATASETS, SURVEYS, key_point_entries
        from argsum.prose.reports import printed_summary
        from argsum.surveys.imports.formats import register_survey_imports
        from cqa_site.results import snapshots
        from cqa_site.rounds.kind import register
        from cqa_site.web import navigation

        navigation.add_entries(key_point_entries)
        navigation.add_finders(DATASETS, SURVEYS)
        navigation.add_paths(COMMENTS)
        register_kinds()
        snapshots.register(KEY_POINTS)
        register(COUNTING)
        register(AUDITING)
        extensions.CORRECTIONS[:] = [AUDIT_CORRECTIONS]
        extensions.BLINDING[:] = [answerable_rounds]
        extensions.SUMMARIES[:] = [printed_summary]
        register_argument_imports()
        register_survey_imports()
        add_part("argsum.demo.actions.arguments.add_arguments")
        add_part("argsum.demo.actions.comments.add_comments")
        register_summary_score_imports()
        register_count_imports()
