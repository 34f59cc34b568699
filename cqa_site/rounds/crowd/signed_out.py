"""What people of a crowd link find where others sign in: their way back to their work.

They have neither an address nor a password. Signed out they are known by the cookie of their
place, and the page they came from says in which study.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from cqa_site.rounds.models import Participant, ParticipantLink

from .place_cookie import browser_secret
from .places import place_hash

# Newest links of a study in which a place is looked for.
LOOKED_AT = 100
# Pages without a study to which participants go.
OWN_PAGES = ("home", "account", "participation_end", "participation_stop", "participation_fault")


class ShowWayBack:
    """Lead participants who are sent to the sign-in form to the page that helps them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Whoever opens the form of their own accord gets it."""
        if request.method == "GET" and request.path == reverse("account_login"):
            page = request.GET.get("next", "")
            name, link = _find(request, page)
            if link or (name in OWN_PAGES and browser_secret(request)):
                return redirect(f"{reverse('participation_back')}?{urlencode({'next': page})}")
        return self.get_response(request)


@require_safe
def way_back(request: HttpRequest) -> HttpResponse:
    """Say that nothing is lost, and where the study is opened again."""
    if request.user.is_authenticated:
        return redirect("home")
    _name, link = _find(request, request.GET.get("next", ""))
    return render(request, "rounds/crowd/signed_out.html", {"link": link})


def _find(request: HttpRequest, page: str) -> tuple[str | None, ParticipantLink | None]:
    """The name of a page, and the link by which this browser came into the study of the page."""
    try:
        match = resolve(page.partition("?")[0])
    except Resolver404:
        return None, None
    study, secret = match.kwargs.get("study_id"), browser_secret(request)
    if not (study and secret):
        return match.url_name, None
    links = ParticipantLink.objects.filter(study__public_id=study)[:LOOKED_AT]
    hashes = {place_hash(link, secret): link for link in links}
    places = Participant.objects.filter(browser_hash__in=hashes)
    return match.url_name, hashes.get(places.values_list("browser_hash", flat=True).first() or "")
