"""The page people see when a link does not let them in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def closed_door(
    request: HttpRequest,
    *,
    status: int,
    title: str,
    text: str,
    advice: str = "",
    sign_out: bool = False,
) -> HttpResponse:
    """Say in plain words why a link does not work and what to do about it."""
    context = {"title": title, "text": text, "advice": advice, "sign_out": sign_out}
    return render(request, "people/closed_door.html", context, status=status)
