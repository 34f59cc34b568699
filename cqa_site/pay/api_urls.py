"""REST API URLs for a crowd link's pay."""

from cqa_site.api.base import CHANGE, address
from cqa_site.rounds.crowd.api_urls import ANY
from .api import LinkPayViews

urlpatterns = [
    address(f"{ANY}crowd-links/<uuid:link_id>/pay/", "crowd_pay", LinkPayViews, **CHANGE)
]
