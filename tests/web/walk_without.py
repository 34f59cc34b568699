"""Ask every page of a demo study that needs nothing but the study; run by `test_without_papers`.

Prints one line for every address that fails; nothing when all is well. The schema of the interface
goes into the file that is named.
"""

import sys

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import NoReverseMatch, get_resolver, reverse  # noqa: E402

from cqa_site.people.models import Membership  # noqa: E402


def main() -> None:
    """Make the demo study and walk through it as a researcher."""
    call_command("migrate", verbosity=0)
    call_command("demo", verbosity=0)
    call_command("check_integrity")
    call_command("spectacular", fail_on_warn=True, file=sys.argv[1])
    member = Membership.objects.filter(role="researcher").first()
    client = Client(raise_request_exception=False)
    client.force_login(member.user)
    asked = 0
    for name in sorted(each for each in get_resolver().reverse_dict if isinstance(each, str)):
        try:
            address = reverse(name, args=[member.study.public_id])
        except NoReverseMatch:
            continue
        asked += 1
        status = client.get(address).status_code
        if status >= 500:
            print(f"{name}: {status}")
    print(f"asked {asked}")


main()
