"""A study with a researcher who is signed in, on its pages and in the interface."""

from functools import cached_property

from django.urls import get_resolver, reverse

from cqa_site.people.models import Role
from tests.api.conftest import client_of
from tests.cast import make_member, make_study, sign_in
from tests.flat import flat


def page_text(response) -> str:
    """A page as a browser reads it."""
    return flat(response.content.decode())


def page_of(client, name, row, **query):
    """The page of a dataset or of a cell."""
    study = getattr(row, "study", None) or row.dataset.study
    return client.get(reverse(name, args=[study.public_id, row.public_id]), query)


class SignedIn:
    """Subclasses name in ``ids`` what stands in most of their addresses."""

    ids: dict = {}

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, Role.RESEARCHER)

    @cached_property
    def client(self):
        return sign_in(self.researcher)

    @cached_property
    def api(self):
        return client_of(self.researcher)

    def url(self, name, /, **ids):
        """An address; ids that it does not take are left out."""
        known = {"study_id": self.study.public_id} | self.ids | ids
        takes = get_resolver().reverse_dict[name][0][0][1]
        return reverse(name, kwargs={each: known[each] for each in takes})

    def get(self, name, query=None, /, *, htmx=False, **ids):
        headers = {"HX-Request": "true"} if htmx else {}
        return self.client.get(self.url(name, **ids), query, headers=headers)

    def post(self, name, given=None, /, *, htmx=False, query="", **ids):
        headers = {"HX-Request": "true"} if htmx else {}
        return self.client.post(self.url(name, **ids) + query, given or {}, headers=headers)

    def text(self, name, query=None, /, **ids):
        """Return the text of a page that must exist."""
        response = self.get(name, query, **ids)
        assert response.status_code == 200
        return page_text(response)

    def told(self, name, query=None, /, **ids):
        """Return the JSON that the API answers with."""
        response = self.api.get(self.url(f"api_{name}", **ids), query)
        assert response.status_code == 200
        return response.json()
