from django.apps import AppConfig


class FilesConfig(AppConfig):
    name = "cqa_site.files"
    label = "files"
