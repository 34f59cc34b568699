from django.apps import AppConfig


class ArgsumConfig(AppConfig):
    name = "argsum"
    label = "argsum"

    def ready(self) -> None:
        from annotation.demo.actions.demo import add_part
        from argsum import tasks  # noqa: F401  handlers of jobs register themselves
        from argsum.counting.actions.kind import COUNTING
        from argsum.counting.imports.formats import register_count_imports
        from argsum.datasets.imports.formats import register_argument_imports
        from argsum.imports.formats import register_summary_score_imports
        from argsum.leaderboard.actions import KEY_POINTS
        from argsum.menu import DATASETS, key_point_entries
        from argsum.paths import COMMENTS
        from argsum.run_kinds import register_kinds
        from cqa_site.results import kind as results
        from cqa_site.rounds.kind import register
        from cqa_site.web.navigation import menu, paths, search

        menu.add(key_point_entries)
        search.add(DATASETS)
        paths.add(COMMENTS)
        register_kinds()
        results.register(KEY_POINTS)
        register(COUNTING)
        register_argument_imports()
        add_part("argsum.demo.actions.arguments.add_arguments")
        add_part("argsum.demo.actions.comments.add_comments")
        register_summary_score_imports()
        register_count_imports()
