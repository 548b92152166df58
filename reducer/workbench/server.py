"""The HTTP server of the workbench. It serves the page and the JSON API to browsers on this machine only.

The page is public, because it contains no data. Each request of the API needs the token, which is in the fragment of
the address that the terminal shows: browsers never send it. Requests of other sites are refused by `Host` (against DNS
rebinding), `Origin` and `Sec-Fetch-Site`; another page can only open the workbench, as a link does.
"""

from __future__ import annotations

import json
import secrets
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from reducer.workbench.api import ApiError, Bench, answer
from reducer.workbench.page import static

HOST = "127.0.0.1"
TOKEN_HEADER = "X-Reducer-Token"
MAX_BODY = 32_000_000
MAX_CONNECTIONS = 32
"""Connections at the same time. A browser opens six."""
_TIMEOUT = 30
"""Seconds that a connection may be idle."""
_OPENED = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
_REDIRECT = """<!doctype html>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0;url={address}">
<title>reducer</title>
<a href="{address}">Open the workbench</a>
"""
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_PAGE = "workbench.html"
_SCRIPTS = (
    "api.js",
    "bundle.js",
    "codemirror.js",
    "difference.js",
    "find.js",
    "rule_editor.js",
    "tree.js",
    "workbench.js",
)
_FILES = frozenset({_PAGE, "style.css", *_SCRIPTS})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Server(ThreadingHTTPServer):
    """Answers each connection in a thread, so that a slow rule does not delay other windows."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        self._free = BoundedSemaphore(MAX_CONNECTIONS)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection in a thread, or close it if there are too many."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser closes early."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def create_server(bench: Bench, port: int, token: str) -> Server:
    """Return a server that listens on 127.0.0.1; port 0 is any free one. Raises OSError if the port is in use."""
    return Server((HOST, port), partial(_Connection, bench, token))


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(24)


@contextmanager
def redirect_file(address: str) -> Iterator[Path]:
    """Yield a file that leads a browser to an address, and delete it afterwards.

    All users of a machine can read the command line of a browser, but only the owner can read this file.
    """
    with TemporaryDirectory(prefix="reducer-") as folder:
        file = Path(folder, "open.html")
        file.touch(0o600)
        file.write_text(_REDIRECT.format(address=address), "utf-8")
        yield file


class _Connection(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "reducer"
    sys_version = ""
    timeout = _TIMEOUT
    disable_nagle_algorithm = True  # otherwise, the body waits 40 ms until the browser confirms the headers

    def __init__(self, bench: Bench, token: str, *arguments: Any) -> None:
        self.bench = bench
        self.token = token
        super().__init__(*arguments)  # answers the requests

    def log_message(self, *_: Any) -> None:
        """Log nothing: addresses contain no errors."""

    def do_GET(self) -> None:
        """Answer a request."""
        try:
            url = urlsplit(self.path)
            self._check_origin(is_page=url.path == "/")
            if url.path.startswith("/api/"):
                self._send(HTTPStatus.OK, self._answer(url.path, url.query), "application/json")
            elif self.command == "GET":
                self._send_file(url.path.removeprefix("/") or _PAGE)
            else:
                raise ApiError(HTTPStatus.METHOD_NOT_ALLOWED, "files are read with GET")
        except ApiError as error:
            self._refuse(error.status, str(error), **error.more)
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:
            traceback.print_exc()
            message = f"{type(error).__name__}: {error}; the terminal shows where"
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, message)

    do_POST = do_PUT = do_GET  # noqa: N815  # the names that `http.server` calls

    def _check_origin(self, *, is_page: bool) -> None:
        """Raise `ApiError` for a request that another site makes, unless it opens the page."""
        port = self.connection.getsockname()[1]
        hosts = self.headers.get_all("Host", [])
        if hosts not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
            raise ApiError(HTTPStatus.MISDIRECTED_REQUEST, f"this server is http://{HOST}:{port}/ only")
        if is_page and all(self.headers.get_all(name) == [value] for name, value in _OPENED.items()):
            return
        origins = set(self.headers.get_all("Origin", []))
        sites = set(self.headers.get_all("Sec-Fetch-Site", []))
        if not origins <= {f"http://{hosts[0]}"} or not sites <= {"same-origin", "none"}:
            raise ApiError(HTTPStatus.FORBIDDEN, "requests of other sites are refused")

    def _answer(self, path: str, query: str) -> bytes:
        token = self.headers.get(TOKEN_HEADER, "")
        if not compare_digest(token.encode(), self.token.encode()):
            raise ApiError(HTTPStatus.UNAUTHORIZED, "the token is wrong: open the address that the terminal shows")
        given = dict(parse_qsl(query)) if self.command == "GET" else self._body()
        return answer(self.bench, self.command, path, given)

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if self.headers.get_content_type() != "application/json" or not (length.isdecimal() and length.isascii()):
            raise ApiError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "expected JSON with a Content-Length")
        if len(length) > 9 or int(length) > MAX_BODY:
            raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"larger than {MAX_BODY:,} bytes")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise ApiError(HTTPStatus.BAD_REQUEST, f"not JSON: {error}") from None
        if type(body) is not dict:
            raise ApiError(HTTPStatus.BAD_REQUEST, "expected a JSON object")
        return body

    def _refuse(self, status: HTTPStatus, message: str, **more: str) -> None:
        self.close_connection = True  # its body may not have been read
        self._send(status, json.dumps({"error": message, **more}).encode(), "application/json")

    def _send_file(self, name: str) -> None:
        if name not in _FILES:
            raise ApiError(HTTPStatus.NOT_FOUND, "there is no such file")
        content = static(name)
        nonce = secrets.token_urlsafe(16)  # the editor adds a style sheet to the page
        if name == _PAGE:
            content = content.replace(b"{nonce}", nonce.encode())
        self._send(HTTPStatus.OK, content, _TYPES[name.rpartition(".")[2]], nonce)

    def _send(self, status: HTTPStatus, content: bytes, kind: str, nonce: str = "") -> None:
        self.connection.settimeout(self.timeout)
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", _POLICY.format(nonce=nonce))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)
