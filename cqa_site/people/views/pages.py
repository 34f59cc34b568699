"""The page people see when a link or a sign-in does not let them in."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from cqa_site.people.sign_in.providers import OpenIDProvider


def closed_door(
    request: HttpRequest,
    *,
    status: int,
    title: str,
    text: str,
    advice: str = "",
    sign_out: bool = False,
    providers: Sequence[OpenIDProvider] = (),
    next_page: str | None = None,
) -> HttpResponse:
    """Say in plain words why somebody does not come in, and what to do about it."""
    context = {"title": title, "text": text, "advice": advice, "sign_out": sign_out}
    context |= {"providers": providers, "next": next_page}
    return render(request, "people/closed_door.html", context, status=status)
