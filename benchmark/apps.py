from django.apps import AppConfig


class BenchmarkConfig(AppConfig):
    name = "benchmark"
    label = "benchmark"

    def ready(self) -> None:
        from annotation.demo.actions.demo import add_part
        from benchmark import tasks  # noqa: F401  handlers of jobs register themselves
        from benchmark.imports.formats import register_score_imports
        from benchmark.leaderboard.actions import BOARDS
        from benchmark.menu import RUBRICS, score_entries
        from benchmark.paths import ANSWERS
        from benchmark.preferences.kind import PREFERRING
        from benchmark.run_kinds import register_kinds
        from benchmark.scoring.actions.kind import SCORING
        from benchmark.scoring.reports.integrity import find_violations
        from cqa_site.results import kind as results
        from cqa_site.rounds.kind import register
        from cqa_site.web import invariants
        from cqa_site.web.navigation import menu, paths, search

        menu.add(score_entries)
        search.add(RUBRICS)
        paths.add(ANSWERS)
        register_kinds()
        results.register(BOARDS)
        register(SCORING)
        register(PREFERRING)
        register_score_imports()
        # The round first: it takes the answers that are there, not those of the demo's scores.
        add_part("benchmark.demo.actions.round.add_round")
        add_part("benchmark.demo.actions.scores.add_scores")
        add_part("benchmark.preferences.actions.add_demo_round")
        invariants.register(find_violations)
