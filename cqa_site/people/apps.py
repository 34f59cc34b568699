from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "cqa_site.people"
    label = "people"
