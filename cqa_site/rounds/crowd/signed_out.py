"""What people of a crowd link find where others sign in: their way back to their work.

They have neither an address nor a password. Signed out, they are known by the cookie of their
place alone, and the page they came from says in which study to look for it.
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
# Pages without a study to which participants go, beside those of crowd links.
OWN_PAGES = ("home", "account")


class ShowWayBack:
    """Lead participants who are sent to the sign-in form to the page that helps them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Look at nobody who opens the form without coming from another page."""
        came_from = request.GET.get("next", "")
        is_form = request.method == "GET" and request.path == reverse("account_login")
        if is_form and came_from and not request.user.is_authenticated:
            if _is_of_participant(request, came_from):
                return redirect(f"{reverse('participation_back')}?{urlencode({'next': came_from})}")
        return self.get_response(request)


@require_safe
def way_back(request: HttpRequest) -> HttpResponse:
    """Say that nothing is lost, and where the study is opened again."""
    if request.user.is_authenticated:
        return redirect("home")
    _name, link = _find(request, request.GET.get("next", ""))
    return render(request, "rounds/crowd/signed_out.html", {"link": link})


def _is_of_participant(request: HttpRequest, page: str) -> bool:
    if not browser_secret(request):
        return False
    name, link = _find(request, page)
    return link is not None or name in OWN_PAGES or name.startswith("participation_")


def _find(request: HttpRequest, page: str) -> tuple[str, ParticipantLink | None]:
    """The name of a page, and the link of the browser's place in the study of the page."""
    try:
        match = resolve(page.partition("?")[0])
    except Resolver404:
        return "", None
    study, secret = match.kwargs.get("study_id"), browser_secret(request)
    links = ParticipantLink.objects.filter(study__public_id=study)[:LOOKED_AT]
    hashes = {place_hash(link, secret): link for link in links} if study and secret else {}
    place = Participant.objects.filter(browser_hash__in=hashes).first() if hashes else None
    return match.url_name or "", place and hashes[place.browser_hash]
