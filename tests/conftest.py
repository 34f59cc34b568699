"""What holds for every test."""

import asyncio

import pytest


@pytest.fixture(autouse=True)
def no_running_loop(request):
    """Hide the browser driver's event loop from tests that run loops of their own.

    Once a browser test ran in this process, the driver's loop counts as running in its thread
    until the end of the session, and ``asyncio.run`` refuses to start another one.
    """
    if request.node.get_closest_marker("browser"):
        yield
        return
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)
