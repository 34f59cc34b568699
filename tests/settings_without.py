"""Settings of a site that leaves papers out: their names stand in the variable WITHOUT."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import INSTALLED_APPS, SPECTACULAR_SETTINGS

left_out = os.environ["WITHOUT"].split(",")
INSTALLED_APPS = [app for app in INSTALLED_APPS if app not in left_out]
names = SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"].items()
SPECTACULAR_SETTINGS = SPECTACULAR_SETTINGS | {
    "ENUM_NAME_OVERRIDES": {
        name: each for name, each in names if each.split(".")[0] not in left_out
    }
}
