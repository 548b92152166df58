"""The golden corpus: real inputs in every form of a tool return, each with the rules that reduce it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from reducer import Reducer
from reducer.inputs.sources import SAMPLE_RULES
from tests.histories.messages import results, session

HERE = Path(__file__).parent
RULES = Path(__file__).parents[2] / "rules"
LARGEST = (
    {"objects": 500_000} | dict.fromkeys(("json", "literals", "lines"), 200_000) | {"nested": 40_000, "reprs": 40_000}
)
"""The longest tool output of each group, in characters of JSON."""
SAMPLES = ("deep_research", "explore", "get_indicator_details", "execute")
"""The samples of tools of which there are no real outputs."""
TOOLS = {
    "*virustotal*ip*": "vt_get_ip_report",
    "*virustotal*domain*": "vt_get_domain_report",
    "*virustotal*": "vt_get_file_report",
    "shodan*": "shodan_host",
    "misp*": "misp_event",
    "stix*": "get_stix_bundle",
    "*grype*": "grype_scan",
    "aws_security*hub*": "get_security_hub_findings",
    "siem_incidents": "siem_search",
    "microsoft365defender*": "siem_search",
    **{name: name for name in SAMPLES},
}
"""The tool names for which the shipped rules reduce the outputs of their products."""


@dataclass(frozen=True, slots=True)
class Case:
    """One input with rules. `reduce` returns the result as text, or None if nothing changes."""

    group: str
    name: str
    reduce: Callable[[], str | None]


def corpus(data: Path, every: int = 1) -> Iterator[Case]:
    """Yield the cases of every so many files of the real data in `data`."""
    yield from _history_cases(sorted((data / "histories").glob("*/*.json"))[::every])
    samples = [next(chain(SAMPLE_RULES.rglob(f"{name}.json"), RULES.rglob(f"{name}.json"))) for name in SAMPLES]
    yield from _output_cases([*sorted((data / "tool_outputs").glob("*.json")), *samples][::every])


def _history_cases(files: Iterable[Path]) -> Iterator[Case]:
    """Yield each history in its stored form, as a session, and as live messages."""
    rulesets = {"shipped": Reducer.load(RULES, SAMPLE_RULES), **_harsh()}
    for file in files:
        history = file.read_bytes()
        session = json.dumps(as_session(json.loads(history)), ensure_ascii=False, indent=1).encode()
        for rules, reducer in rulesets.items():
            name = f"{file.parent.name}/{file.stem} {rules}"
            yield Case("histories", name, partial(_stored, reducer, history))
            yield Case("histories", f"{name} without references", partial(_stored, reducer, history, references=False))
            yield Case("sessions", name, partial(_stored, reducer, session))
            yield Case("live", name, partial(_live, reducer, history))


def _output_cases(files: Iterable[Path]) -> Iterator[Case]:
    """Yield each tool output in every form."""
    shipped, drafts, harsh = Reducer.load(RULES, SAMPLE_RULES), _drafts(), _harsh()
    for name, value in {file.stem: json.loads(file.read_bytes()) for file in files if file.stem != "manifest"}.items():
        tool = next((tool for pattern, tool in TOOLS.items() if fnmatchcase(name, pattern)), None)
        rulesets = {rules: (rules, reducer) for rules, reducer in harsh.items()} | {"drafts": (name, drafts)}
        if tool is not None:
            rulesets["shipped"] = (tool, shipped)
        for group, content in _forms(value):
            for rules, (tool_name, reducer) in rulesets.items():
                yield Case(group, f"{name} {rules}", partial(_content, reducer, tool_name, content))


def _harsh() -> dict[str, Reducer]:
    return {file.stem: Reducer.load(file) for file in sorted((HERE / "rules").glob("*.yaml"))}


def _drafts() -> Reducer:
    """Load the rules that `init` drafted for the tool outputs. Each line of the file is one rule as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        for line in (HERE / "drafts.jsonl").read_text(encoding="utf-8").splitlines():
            Path(folder, f"{json.loads(line)['tool']}.yaml").write_text(line, encoding="utf-8")
        return Reducer.load(folder)


def _forms(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a tool output as an object, and as the texts that tools, MCP clients and wrappers write for it."""
    text = json.dumps(value, ensure_ascii=False)
    forms = {
        "objects": value,
        "json": text,
        "literals": str(value),
        "nested": {"status": "ok", "result": text, "items": [{"type": "text", "text": json.dumps(value, indent=2)}]},
        "reprs": f"CallToolResult(meta=None, content=[TextContent(type='text', text={text!r}, annotations=None)])",
    }
    if isinstance(value, list):
        forms["lines"] = "\n".join(json.dumps(item) for item in value)
    return ((group, form) for group, form in forms.items() if len(text) <= LARGEST[group])


def _content(reducer: Reducer, tool: str, content: Any) -> str | None:
    result = reducer.reduce_content(tool, content)
    if result is content:
        return None
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1)


def _stored(reducer: Reducer, history: bytes, references: bool = True) -> str | None:
    result = reducer.reduce_json(history, references=references)
    return None if result == history else result.decode()


def _live(reducer: Reducer, history: bytes) -> str | None:
    """Reduce a history as live messages whose JSON texts are decoded, as if the tools returned objects."""
    before, result = _contents(_messages(history)), _contents(reducer.reduce(_messages(history)))
    return None if result == before else result


def _contents(messages: list[Any]) -> str:
    contents = [part.content for message in messages for part in message.parts if _is_return(part)]
    return json.dumps(contents, ensure_ascii=False, indent=1)


def _messages(history: bytes) -> list[Any]:
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    messages = ModelMessagesTypeAdapter.validate_json(history)
    for part in filter(_is_return, (part for message in messages for part in message.parts)):
        part.content = _decoded(part.content)
    return messages


def _is_return(part: Any) -> bool:
    return part.part_kind == "tool-return"


def _decoded(content: Any) -> Any:
    try:
        return json.loads(content)
    except (TypeError, ValueError):
        return content


def as_session(history: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a history in the format of a chat front end: tool returns are activities, each with a second copy."""
    return {"session_id": "golden", "messages": [_session_message(message) for message in history]}


def _session_message(message: dict[str, Any]) -> dict[str, Any]:
    texts = [part["content"] for part in message["parts"] if part["part_kind"] in ("text", "user-prompt")]
    activities = []
    for part in message["parts"]:
        if part["part_kind"] == "tool-return":
            content = part["content"] if isinstance(part["content"], str) else json.dumps(part["content"])
            details = {"function_name": part["tool_name"], "arguments": {}, "raw_result": content, "status": "success"}
            activity = results(part["tool_call_id"], content, part["tool_name"])
            activities.append({**activity, "technical_details": details})
    older = [{"type": "tool_result", "results": activity["results"]} for activity in activities]
    return session(*activities, older=older) | {
        "role": "assistant" if message["kind"] == "response" else "user",
        "text_content": "\n".join(text for text in texts if isinstance(text, str)) or None,
        "timestamp": "2026-01-22T21:47:29.763430",
    }
