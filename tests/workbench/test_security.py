"""Only the page of the workbench can use its API, and only for files in the folder of rules."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from reducer.workbench.server import MAX_BODY, MAX_CONNECTIONS, TOKEN_HEADER, _Connection
from tests.workbench.conftest import RULE, Workbench

Start = Callable[..., Workbench]


@pytest.mark.parametrize("token", ["", "wrong", "a-token-for-test", "a-token-for-tests2", "\u00e4"])
def test_the_api_needs_the_token(start: Start, token: str) -> None:
    status, _, body = start().send("GET", "/api/rules", headers={TOKEN_HEADER: token})
    assert status == 401
    assert json.loads(body) == {"error": "the token is wrong: open the address that the terminal shows"}


@pytest.mark.parametrize("path", ["/", "/api/rules"])
def test_another_host_is_refused(start: Start, path: str) -> None:
    bench = start()
    own, local = f"127.0.0.1:{bench.port}", ("127.0.0.1", "127.0.0.1:1", "[::1]", f"[::1]:{bench.port}")
    for host in ("evil.example", f"evil.example:{bench.port}", f"{own}.evil.example", *local):
        status, _, body = bench.send("GET", path, headers={"Host": host})
        assert (status, json.loads(body)) == (421, {"error": f"this server is http://{own}/ only"})


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_other_sites_are_refused(start: Start, method: str) -> None:
    bench = start()
    origins = ("http://evil.example", "null", "http://127.0.0.1:1", f"http://localhost:{bench.port}")
    sites = ("cross-site", "same-site")
    for headers in [*({"Origin": one} for one in origins), *({"Sec-Fetch-Site": one} for one in sites)]:
        status, answered, body = bench.send(method, "/api/rules", b"{}" if method == "PUT" else None, headers)
        assert (status, json.loads(body)) == (403, {"error": "requests of other sites are refused"})
        assert not [name for name in answered if name.startswith("Access-Control")]


def test_the_page_and_links_to_it_are_accepted(start: Start) -> None:
    bench = start()
    own = {"Origin": f"http://127.0.0.1:{bench.port}", "Sec-Fetch-Site": "same-origin"}
    assert bench.send("GET", "/api/rules", headers=own)[0] == 200
    assert bench.send("GET", "/", headers={TOKEN_HEADER: "", "Sec-Fetch-Site": "none"})[0] == 200
    local = f"localhost:{bench.port}"
    assert bench.send("GET", "/api/rules", headers={"Host": local, "Origin": f"http://{local}"})[0] == 200
    opened = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert bench.send("GET", "/", headers=opened)[0] == 200
    for path, changed in (
        ("/api/rules", {}),
        ("/", {"Sec-Fetch-Dest": "iframe"}),
        ("/", {"Sec-Fetch-Mode": "no-cors"}),
        ("/tree.js", {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}),
    ):
        assert bench.send("GET", path, headers=opened | changed)[0] == 403


@pytest.mark.parametrize("path", ["/", "/codemirror.js", "/api/rules", "/nothing"])
def test_every_answer_has_strict_headers(start: Start, path: str) -> None:
    bench = start()
    _, headers, body = bench.send("GET", path)
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
    assert (headers["Cache-Control"], headers["Cross-Origin-Resource-Policy"]) == ("no-store", "same-origin")
    assert b"{nonce}" not in body
    assert (bench.send("GET", path)[2] == body) == (path != "/"), "each page has its own nonce"


NAMES = [
    "../secret.yaml", "a/../../secret.yaml", "/etc/passwd", "/etc/x.yaml", ".hidden.yaml", ".git/x.yaml", "a/.b/x.yaml",
    "x.yaml\0", "x\0.yaml", "x.py", "x.yaml/", "", ".", "..", "a\\..\\x.yaml", "C:x.yaml", "a/b/c/x.yaml", "x.yaml\n",
    "samples/../../x.yaml", "%2e%2e/x.yaml/..", f"{'x' * 300}.yaml",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_outside_of_the_folder_are_refused(start: Start, name: str) -> None:
    bench = start()
    (bench.folder.parent / "secret.yaml").write_text("secret")
    for status, answer in (
        bench.ask("GET", "rule", name=name),
        bench.ask("PUT", "rule", name=name, text=RULE, version=""),
        bench.ask("PUT", "rule", name="ok.yaml", text=RULE, version="", sample_name=name, sample="[]"),
        bench.ask("POST", "run", name=name, text=RULE, content=0),
        bench.ask("POST", "check", name=name, text=RULE),
        bench.ask("POST", "rename", name=name, version="", to="ok.yaml"),
        bench.ask("POST", "rename", name="list_hosts.yaml", version="", to=name),
        bench.ask("POST", "delete", name=name, version=""),
    ):
        assert status == 400
        assert "secret" not in answer.get("text", "")
    assert sorted(path.name for path in bench.folder.rglob("*")) == ["hosts.json", "list_hosts.yaml", "samples"]


@pytest.mark.parametrize(
    "path", ["/../api.py", "/static/../api.py", "/%2e%2e/api.py", "//etc/passwd", "/tree.js/", "/.git", "/page.py"]
)
def test_only_files_of_the_page_are_served(start: Start, path: str) -> None:
    assert start().send("GET", path)[0] == 404


def test_large_and_unclear_bodies_are_refused(start: Start) -> None:
    bench = start()
    for headers, expected in [
        ({"Content-Length": str(MAX_BODY + 1)}, 413),
        ({"Content-Length": "9" * 30}, 413),
        ({"Content-Length": "-1"}, 415),
        ({"Content-Length": "\u00b2"}, 415),
        ({"Content-Length": "2", "Content-Type": "text/plain"}, 415),
        ({"Content-Length": "2", "Content-Type": "application/x-www-form-urlencoded"}, 415),
    ]:
        assert bench.send("POST", "/api/run", headers=headers)[0] == expected, headers
    for body in (b"[]", b"{", b"\xff", b"[" * 100_000, b'{"name": 1}', b'{"unknown": 1}', b"1" * 10_000):
        status, _, answer = bench.send("POST", "/api/run", body)
        assert (status, list(json.loads(answer))) == (400, ["error"]), body[:20]
    chunked = {"Transfer-Encoding": "chunked"}
    assert bench.send("POST", "/api/run", b"2\r\n{}\r\n0\r\n\r\n", chunked)[0] in (400, 415)
    too_long = bench.ask("POST", "run", name="a.yaml", text="x" * 300_000, content=None)
    assert (too_long[0], "at most 250000 characters" in too_long[1]["error"]) == (400, True)


@pytest.mark.parametrize(("method", "status"), [("DELETE", 501), ("OPTIONS", 501), ("HEAD", 501), ("PUT", 404)])
def test_other_methods_are_refused(start: Start, method: str, status: int) -> None:
    assert start().send(method, "/api/rules", b"{}" if method == "PUT" else None)[0] == status


def test_the_server_listens_on_one_address_only(start: Start) -> None:
    # A server that listens on all addresses also accepts this one, which is another name of this machine on Linux.
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", start().port), timeout=5):  # noqa: PT011
        pass


def test_a_connection_that_breaks_off_does_not_end_the_server(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    bench = start()
    half = b"POST /api/run HTTP/1.1\r\nContent-Length: 9\r\n"
    for sent in (b"", b"GET /api", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\xff\r\n\r\n", half):
        with socket.create_connection(("127.0.0.1", bench.port), timeout=5) as client:
            client.sendall(sent)
    assert bench.ask("GET", "rules")[0] == 200
    assert "Traceback" not in capfd.readouterr().err


def test_half_sent_requests_take_few_threads_and_end(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Connection, "timeout", 2)
    bench = start()
    before = most = threading.active_count()
    clients = [socket.create_connection(("127.0.0.1", bench.port), timeout=30) for _ in range(200)]
    try:
        for client in clients:
            with suppress(ConnectionError):  # refused, because there are too many
                client.sendall(b"GET / HTTP/1.1\r\nX: ")
        while any(map(_is_open, clients)):
            most = max(most, threading.active_count())
            time.sleep(0.05)
    finally:
        for client in clients:
            client.close()
    assert most <= before + MAX_CONNECTIONS
    assert bench.ask("GET", "rules")[0] == 200


def _is_open(client: socket.socket) -> bool:
    """Return whether the server has not ended a connection on which it sends nothing."""
    client.setblocking(False)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def test_contents_cannot_become_markup(start: Start) -> None:
    hostile = "</script><script>alert(1)</script>\u202e"
    bench = start(histories={"answer.json": json.dumps({"text": hostile})})
    request = json.dumps({"name": "a.yaml", "text": RULE, "content": 0}).encode()
    status, headers, body = bench.send("POST", "/api/run", request)
    assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert hostile in json.loads(body)["tree"]["node"]["items"]
