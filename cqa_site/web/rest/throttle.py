"""A courtesy limit for API clients that loop; no security measure."""

from django.core.cache.backends.locmem import LocMemCache
from rest_framework.throttling import UserRateThrottle


class CourtesyThrottle(UserRateThrottle):
    """600 requests a minute and person, counted in each process by itself.

    The shared cache may be the database, where counting would cost every read
    a write.
    """

    rate = "600/min"
    cache = LocMemCache("api-throttle", {})
