"""Open the workbench, a page in the browser to edit rules, see what they do to
real returns, and test them.

examples:
  python -m reducer serve session.json --rules rules/ --write
      edit the rules in rules/ and see them applied to a history
  python -m reducer serve sample.json --rules my/ --write
      draft a first rule from a sample, JSON or text
  python -m reducer serve
      the built-in sample and ./rules, otherwise the built-in rules

The page works without a network. Only browsers on this machine that know the
printed address can use it, and nothing is written without --write. Press Ctrl-C
to stop.
Exit codes: 0 done, 2 cannot run.
"""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGTERM, default_int_handler, signal
from threading import Thread

from reducer.cli.arguments import integer, parse, parser
from reducer.cli.inputs import sources_or_sample
from reducer.cli.screen import CommandError, say, say_skipped
from reducer.cli.sources import short
from reducer.errors import reason
from reducer.files import builtin_rules, rule_files

_PORT = 8420
"""The default port. Browsers keep drafts by address, so it is the same in every run."""
_COPY = "copy those that you need to ./rules with `rules add NAME`, and open it with `serve --write`"


def main(arguments: Sequence[str]) -> int:
    """Run the verb and return the exit code. Raises `CommandError` and OSError."""
    reader = parser("serve", __doc__, ("histories",))
    add = reader.add_argument
    add("--rules", metavar="DIR", help="folder of rule files, or builtin:PACK (default: ./rules, otherwise builtin)")
    add("--write", action="store_true", help="allow the page to save rules in this folder")
    add("--port", type=integer("a port", 0, 65535), default=_PORT, metavar="N", help="port; 0 is any (default: 8420)")
    add("--no-open", action="store_true", help="print the address, but do not open a browser")
    options = parse(reader, arguments)
    folder, read_only = _folder(options.rules, options.write)
    sources = sources_or_sample(options.histories)

    from reducer.workbench.api import open_bench  # after the arguments are checked: it takes time to import
    from reducer.workbench.server import HOST, create_server, new_token, redirect_file

    token = new_token()
    bench = open_bench(folder, sources, read_only)
    bench.recordings.add_done_callback(lambda done: say_skipped(done.result().skipped))
    try:
        server = create_server(bench, options.port, token)
    except OSError as error:
        message = f"--port {options.port}: {reason(error)}; end the other workbench, or choose another port such as 0"
        raise CommandError(message) from None
    address = f"http://{HOST}:{server.server_address[1]}/#{token}"
    print(f"{folder}: {address}", flush=True)
    say("press Ctrl-C to stop")
    signal(SIGTERM, default_int_handler)  # leaves no file behind, as Ctrl-C
    with server, redirect_file(address) as file, suppress(KeyboardInterrupt):
        if not options.no_open:
            # Some browsers return when they are closed.
            Thread(target=_open, args=(file.as_uri(),), daemon=True).start()
        server.serve_forever()
    return 0


def _folder(name: str | None, can_write: bool) -> tuple[Path, str]:
    """Return the folder of rules, and why rules cannot be saved in it, or an empty text.

    The folder need not exist if rules can be saved. Raises `CommandError`, and OSError for an unknown pack or an empty
    name.
    """
    if name is None:
        name = "rules" if can_write or Path("rules").is_dir() else "builtin"
    files = rule_files(name)
    folder = Path(name)
    if name.partition(":")[0] == "builtin":
        if can_write:
            raise CommandError(f"--rules {name}: these rules cannot be changed; {_COPY}")
        return short(files[0].parent if ":" in name else builtin_rules()), f"these rules come with reducer; {_COPY}"
    if not folder.is_dir() and (folder.exists() or not can_write):
        raise CommandError(f"--rules {name}: not a folder; `serve --write` creates a new one")
    return folder, "" if can_write else "start the workbench with --write to save rules"


def _open(file: str) -> None:
    if not webbrowser.open(file):
        say("no browser found; open the address above")
