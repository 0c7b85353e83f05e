"""An executor that runs at once on the calling thread, so that one seed gives one order of events."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class InlineExecutor(ThreadPoolExecutor):
    """Stands in for the event loop's pool; there are no threads."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run now; a crash comes back through the future like any other error."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - a future carries whatever was raised
            future.set_exception(error)
        return future
