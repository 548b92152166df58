"""A running workbench with a rule and a history, and requests to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import pytest

from reducer.inputs.sources import find_sources
from reducer.workbench.api import open_bench
from reducer.workbench.server import TOKEN_HEADER, create_server
from tests.cli.conftest import cli, folder, history

__all__ = ["cli", "folder"]

TOKEN = "a-token-for-tests"
NO_PLAYWRIGHT = "the package `playwright` is missing: pip install -e '.[browser]'"
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
RULE = """version: 1
tool: list_hosts
steps:
  # The riskiest hosts are enough.
  - path: hosts
    limit: 3
    sort_by: risk
tests:
  - name: three hosts stay
    given: {file: samples/hosts.json}
    expect: {values: {"length(hosts)": 4}}
"""
_SEEN = "Seen last night. The beacon went to 192.0.2."
HOSTS = {"hosts": [{"name": f"srv-{n}", "risk": n, "note": f"{_SEEN}{n}."} for n in range(9)]}
OWN = {"list_hosts.yaml": RULE, "samples/hosts.json": json.dumps(HOSTS)}
RECORDED = {"history.json": history(("list_hosts", HOSTS))}
NOTE = "nothing happened on this day, and nothing was expected to happen on it either. " * 9
ROWS = [{"id": n, "state": None, "note": f"row {n} says that {NOTE}"} for n in range(40)]


@dataclass(frozen=True)
class Workbench:
    """A running workbench: its folder of rules and its port."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/#{TOKEN}"

    def send(self, method: str, path: str, body: bytes | None = None, headers: Any = ()) -> tuple[int, Any, bytes]:
        """Send a request, with the token unless `headers` replace it. Return the status, the headers and the body."""
        given = {TOKEN_HEADER: TOKEN, "Content-Type": "application/json", **dict(headers)}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, {name: value for name, value in given.items() if value})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()

    def ask(self, method: str, endpoint: str, **fields: Any) -> tuple[int, Any]:
        """Send a request of the API. Return the status and the answer."""
        query = f"?{urlencode(fields)}" if method == "GET" and fields else ""
        body = None if method == "GET" else json.dumps(fields).encode()
        status, _, answer = self.send(method, f"/api/{endpoint}{query}", body)
        return status, json.loads(answer)

    def get(self, method: str, endpoint: str, **fields: Any) -> Any:
        """Return the answer to a request of the API that succeeds."""
        status, answer = self.ask(method, endpoint, **fields)
        assert status == 200, answer
        return answer


@pytest.fixture(scope="module")  # its event loop must end before other tests start one
def browser() -> Iterator[Any]:
    """Return Chromium, or skip the test if it is missing."""
    api = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT)
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if path is None:
        pytest.skip("Chromium is missing (Debian: apt-get install chromium)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Workbench]]:
    """Return a function that starts a workbench with a rule, its sample and a history, unless others are given."""
    servers = []

    def started(rules: dict[str, str] = OWN, histories: Any = RECORDED, read_only: str = "") -> Workbench:
        folder = tmp_path / "rules"
        for name, content in {**{f"rules/{name}": text for name, text in rules.items()}, **histories}.items():
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        sources = find_sources([str(tmp_path / name) for name in histories])
        server = create_server(open_bench(folder, sources, read_only), 0, TOKEN)
        servers.append(server)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return Workbench(folder, server.server_address[1])

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()
