"""Who may open what: every address of a study, the roles that may, and what it takes.

A route without a line here fails the suite. ``roles`` are the first letters
of annotator, expert, researcher, admin; ``post`` marks routes that only take
POST. Everybody else gets 403, strangers 404, anonymous visitors the sign-in
page.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Route:
    """Expected access of one address."""

    roles: str
    post: bool = False


RESEARCHERS = Route("rd")
RESEARCHERS_POST = Route("rd", post=True)
RATERS = Route("ae")
RATERS_POST = Route("ae", post=True)
EXPERTS = Route("erd")
EVERYBODY = Route("aerd")
ADMINS = Route("d")
ADMINS_POST = Route("d", post=True)
