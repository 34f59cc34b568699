from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "cqa_site.people"
    label = "people"

    def ready(self) -> None:
        from allauth.mfa.models import Authenticator

        from cqa_site.people.menu import PEOPLE, people_entries
        from cqa_site.people.sign_in import roles, second_step  # noqa: F401  (register chores)
        from cqa_site.sealing import HELD
        from cqa_site.web import navigation

        HELD.append((Authenticator, "data"))
        navigation.add_entries(people_entries)
        navigation.add_finders(PEOPLE)
