from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    label = "benchmark"

    def ready(self) -> None:
        from annotation.demo.actions import add_part
        from benchmark.background import register_kinds
        from benchmark.imports.formats import register_score_imports
        from benchmark.leaderboard.actions import BOARDS
        from benchmark.navigation import ANSWERS, RUBRICS, score_entries
        from benchmark.preferences.kind import PREFERRING
        from benchmark.scoring.actions import SCORING
        from benchmark.scoring.reports.sheets import find_violations
        from cqa_site.results import snapshots
        from cqa_site.rounds.kind import register
        from cqa_site.web import housekeeping, navigation

        navigation.add_entries(score_entries)
        navigation.add_finders(RUBRICS)
        navigation.add_paths(ANSWERS)
        register_kinds()
        snapshots.register(BOARDS)
        register(SCORING)
        register(PREFERRING)
        register_score_imports()
        # The round comes first, so that it uses the existing answers, not those of the demo
        # scores.
        add_part("benchmark.demo.actions.add_round")
        add_part("benchmark.demo.actions.add_scores")
        add_part("benchmark.preferences.actions.add_demo_round")
        housekeeping.register(find_violations)
