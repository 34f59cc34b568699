from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "cqa_site.files"
    label = "files"

    def ready(self) -> None:
        from cqa_site.files import handlers  # noqa: F401  handlers of jobs register themselves
        from cqa_site.files.menu import file_entries
        from cqa_site.web.navigation import menu

        menu.add(file_entries)
