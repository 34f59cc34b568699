from django.apps import AppConfig


class ArgsumConfig(AppConfig):
    name = "argsum"
    label = "argsum"

    def ready(self) -> None:
        from annotation.actions.demo import add_part
        from argsum import tasks  # noqa: F401  handlers of jobs register themselves
        from argsum.actions.argument_imports.formats import register_argument_imports
        from argsum.actions.count_imports.formats import register_count_imports
        from argsum.actions.score_imports.formats import register_summary_score_imports
        from argsum.run_kinds import register_kinds
        from cqa_site.people import own_work
        from cqa_site.web import invariants

        register_kinds()
        register_argument_imports()
        add_part("argsum.actions.demo_arguments.add_arguments")
        register_summary_score_imports()
        register_count_imports()
        own_work.register("argsum.reports.counting_work.waiting_for")
        invariants.register("argsum.reports.counting_integrity.find_violations")
