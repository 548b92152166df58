"""`restore` gives back session histories with all copies of a return, archives of JSON lines, and folders."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reducer.archive import Archive
from reducer.archive.database import open_to_read
from reducer.archive.histories import entries_between, restore
from reducer.histories.stored import reduce_json
from tests.cli.conftest import Result

Cli = Callable[..., Result]
SAMPLES = sorted((Path(__file__).parents[1] / "histories" / "data").glob("session_*.json"))
HARSH = "version: 1\ntool: '*'\nsteps:\n  - {path: nodes, limit: 1}\n  - truncate: 30\nmax_chars: 300\n"


@pytest.mark.parametrize("more", [(), ("--format", "json"), ("--input-format", "session")])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_every_copy_comes_back_byte_for_byte(folder: Path, cli: Cli, sample: Path, more: tuple[str, ...]) -> None:
    (folder / "all.yaml").write_text(HARSH)
    assert (
        cli(
            str(sample),
            "--rules",
            "all.yaml",
            "--no-references",
            "-o",
            "reduced.json",
            "--archive",
            "returns.db",
            *more,
        ).code
        == 0
    )
    whole, reduced = sample.read_bytes(), Path("reduced.json").read_bytes()
    assert len(reduced) < len(whole)
    result = cli("restore", "reduced.json", "--archive", "returns.db", "-o", "again.json")
    assert (result.code, Path("again.json").read_bytes()) == (0, whole)


def filed(folder: Path, whole: bytes, reduced: bytes) -> tuple[int, bytes]:
    """File the originals and restore with them: how many entries there were, and the history."""
    with Archive(folder / "returns.db") as archive:
        entries = list(entries_between(whole, reduced, lambda tool: "rule"))
        archive.add(entries)
        archive.flush()
        with open_to_read(archive.path) as connection:
            result = restore(reduced, connection)
    assert not result.unrestored
    return len(entries), result.history


def session(*results: tuple[Any, Any, Any], ids: bool = True) -> bytes:
    """Write a session history whose returns stand as a content, an older copy of it, and a raw result."""

    def activity(kind: str, number: int, content: Any) -> dict[str, Any]:
        result = {"name": "look", "content": content}
        if ids or kind == "activity":
            result["call_id"] = f"c{number}"
        return {"type": kind, "activity_type": "tool_result", "results": [result]}

    parts = [activity("activity", number, content) for number, (content, _, _) in enumerate(results)]
    for part, (_, _, raw) in zip(parts, results, strict=True):
        part["technical_details"] = {"function_name": "look", "raw_result": raw, "status": "success"}
    older = [activity("tool_result", number, copy) for number, (_, copy, _) in enumerate(results)]
    return json.dumps([{"role": "assistant", "parts": parts, "activity_parts": older}]).encode()


def shorter(content: Any) -> Any:
    return content[:5] if isinstance(content, str) else content[:1]


@pytest.mark.parametrize(
    ("results", "entries"),
    [
        ([("a long text", "a long text", ["a", "b"])], 2),  # texts that are the same, and a list
        ([("a long text", "a longer text", "a lonely text")], 3),  # reduced to the same
        ([("a long text", "a lon", "a long text")], 2),  # a copy that stays
        ([("a lon", "a long text", "a lon")], 3),
        ([("long text 1", "long text 2", ["a"]), ("long text 2", "long text 1", ["a"])], 4),
        ([("short", "short", [])], 0),
    ],
)
@pytest.mark.parametrize("ids", [True, False])
def test_copies_that_differ_come_back_each_as_it_was(folder: Path, results: list[Any], entries: int, ids: bool) -> None:
    whole = session(*results, ids=ids)
    reduced = reduce_json(whole, lambda tool, content: content if content == shorter(content) else shorter(content))
    count, history = filed(folder, whole, reduced)
    assert history == whole
    assert count == entries
    assert (reduced is whole) == (entries == 0)


def test_a_folder_of_archives_comes_back(folder: Path, cli: Cli) -> None:
    (folder / "all.yaml").write_text(HARSH)
    kept = folder / "kept" / "deep"
    kept.mkdir(parents=True)
    each = [json.dumps(json.loads(sample.read_bytes())).encode() for sample in SAMPLES]
    lines = b"\n".join(each)
    (kept / "lines.jsonl.gz").write_bytes(gzip.compress(lines))
    (kept / "lines.json").write_bytes(lines)
    (kept.parent / "h.json").write_bytes(each[0])
    assert cli("kept", "--rules", "all.yaml", "-o", "reduced/", "--archive", "returns.db").code == 0
    result = cli("restore", "reduced/", "--archive", "returns.db", "-o", "again/")
    assert result.code == 0
    assert Path("again/h.json").read_bytes() == each[0] != Path("reduced/h.json").read_bytes()
    assert (
        gzip.decompress(Path("again/deep/lines.jsonl.gz").read_bytes())
        == lines
        == Path("again/deep/lines.json").read_bytes()
    )
    assert f"reducer: wrote again/deep/lines.json, {len(lines):,} bytes: " in result.err


def test_one_file_of_several_that_is_no_history_does_not_stop_the_others(folder: Path, cli: Cli) -> None:
    assert (
        cli("h.json", "--rules", "lookup.yaml", "--no-references", "-o", "reduced.json", "--archive", "returns.db").code
        == 0
    )
    Path("none.json").write_text('{"a": 1}')
    result = cli("restore", "none.json", "reduced.json", "--archive", "returns.db", "-o", "again/")
    assert result.code == 2
    assert "error: none.json: not a history: found an object with the keys a" in result.err
    assert Path("again/reduced.json").read_bytes() == Path("h.json").read_bytes()
    assert not Path("again/none.json").exists()
