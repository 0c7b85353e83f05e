"""The small HTTP server that one of the example's Flows asks; it listens on this machine only."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RATES = {"CHF": 0.94, "GBP": 0.86, "NPR": 153.2, "USD": 1.09}


class Rates(BaseHTTPRequestHandler):
    """Answers `/rates`."""

    def do_GET(self) -> None:
        """Answer a request."""
        found = self.path == "/rates"
        body = json.dumps({"base": "EUR", "rates": RATES} if found else {"error": "there is only /rates"}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent; the Flow's own log says what came."""


@contextmanager
def serving() -> Iterator[str]:
    """Serve on a free port of the loopback address for the length of a block; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Rates)
    thread = threading.Thread(target=server.serve_forever, name="demo-server", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
