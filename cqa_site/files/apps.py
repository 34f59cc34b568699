from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "cqa_site.files"
    label = "files"

    def ready(self) -> None:
        from django.utils.translation import gettext_lazy as _

        from cqa_site.files import registration  # noqa: F401  handlers of jobs register themselves
        from cqa_site.files.actions.imports import UNREADABLE
        from cqa_site.files.format_parts import ObjectCount, register_counted
        from cqa_site.files.registration import file_entries
        from cqa_site.web import navigation

        navigation.add_entries(file_entries)
        register_counted(ObjectCount(UNREADABLE, _("Rows that cannot be read")))
