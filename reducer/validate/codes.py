"""What can be found in a stored history: every code with its severity, what it says, and who refuses it.

An error is what PydanticAI refuses to load or a large provider refuses to answer; a warning is odd but accepted. Loading was tried with
`ModelMessagesTypeAdapter` of PydanticAI 0.3.6, 0.8.1, 1.0.18, 1.107.10 and 2.68.0; what providers refuse stands in their answers, as reported at:

- OpenAI, chat: "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'" (miurla/morphic#136) and "an assistant
  message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'" (pydantic/pydantic-ai#562); responses: "No tool call
  found for function call output with call_id" (continuedev/continue#10092), "No tool output found for function call" (bytedance/trae-agent#245).
- Anthropic: "`tool_use` ids were found without `tool_result` blocks immediately after" (anthropics/claude-code#8210), "unexpected `tool_use_id`
  found in `tool_result` blocks" (anthropics/claude-code#18947), "`tool_use` ids must be unique" (anomalyco/opencode#1279), "String should match
  pattern '^[a-zA-Z0-9_-]+$'" (langchain-ai/langchain#37756), "text content blocks must be non-empty" (anthropics/anthropic-sdk-python#461).
- Google: "the number of function response parts is equal to the number of function call parts" (google-gemini/gemini-cli#4217), "function call turn
  comes immediately after a user turn or after a function response turn" (google-gemini/gemini-cli#26486, #11814 for a history that starts with one).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]


class Code(NamedTuple):
    """One kind of finding; `refused_by` names who refuses it, empty when nobody does."""

    code: str
    severity: Severity
    says: str
    refused_by: str


_TABLE: tuple[Code, ...] = (
    Code("V001", "error", "The file is not UTF-8 text.", "every reader"),
    Code("V002", "error", "The text is not JSON.", "every reader"),
    Code("V003", "error", "The JSON is no history: no message or list of messages is found in it.", "PydanticAI"),
    Code("V004", "error", "The JSON is more than PydanticAI's reader takes: a byte order mark, a lone surrogate, over 200 levels.", "PydanticAI"),
    Code("V005", "warning", "An object has the same key twice; readers take the last.", ""),
    Code("V006", "warning", "NaN or infinity stands as a number; JSON has none, PydanticAI reads it.", ""),
    Code("V007", "warning", "A line of JSON lines is too long, or takes too much memory: it was not looked into.", ""),
    Code("V010", "error", "A message is no object, or its kind is neither request nor response.", "PydanticAI"),
    Code("V011", "error", "`parts` of a message is missing or no list.", "PydanticAI"),
    Code("V012", "warning", "A message has no parts.", ""),
    Code("V013", "error", "A part is no object, or says no `part_kind`.", "PydanticAI"),
    Code("V014", "error", "A part stands on the wrong side: a kind of responses in a request, or the other way round.", "PydanticAI"),
    Code("V015", "warning", "A part kind, or the kind of an item of a user prompt, is not known; a later version may.", "versions of PydanticAI without it"),
    Code("V016", "error", "A field that must be there is missing.", "PydanticAI"),
    Code("V017", "error", "A field has a value of the wrong type, or null where null is none.", "PydanticAI"),
    Code("V018", "error", "A field has none of the values that it can have.", "PydanticAI"),
    Code("V019", "error", "Stored bytes are not base64.", "PydanticAI"),
    Code("V020", "error", "A timestamp cannot be read as a date with time.", "PydanticAI"),
    Code("V021", "warning", "A timestamp is not ISO 8601 with zone; without a zone the time is anybody's guess.", ""),
    Code("V022", "warning", "A timestamp is finer than microseconds; PydanticAI cuts the rest off.", ""),
    Code("V030", "error", "A tool call is not answered before the next response.", "OpenAI, Anthropic, Google"),
    Code("V031", "warning", "A tool call at the end is not answered yet: the run can go on, but not with a new prompt.", ""),
    Code("V032", "error", "A tool return or retry answers no call of the response before it.", "OpenAI, Anthropic, Google"),
    Code("V033", "error", "A tool call is answered twice.", "OpenAI, Anthropic, Google"),
    Code("V034", "error", "Two tool calls of one response have the same id.", "Anthropic"),
    Code("V035", "error", "A tool return or retry has the id of a call, but another tool name.", "Google, which goes by the name"),
    Code("V036", "warning", "A call id is empty or has other characters than letters, digits, `_` and `-`.", "Anthropic, as it stands"),
    Code("V037", "error", "A tool call, return or retry has no id: PydanticAI makes up another for each at every load.", "OpenAI, Anthropic"),
    Code("V038", "error", "`args` is a text that is not a JSON object.", "PydanticAI before 1.71, for Anthropic and Google"),
    Code("V039", "warning", "`args` is a text that is not a JSON object, and a retry answers it: the model wrote it so.", ""),
    Code("V040", "warning", "Two responses follow each other.", ""),
    Code("V041", "error", "A response with tool calls follows another response.", "Google"),
    Code("V042", "warning", "Two requests follow each other, and the second is more than tool returns.", ""),
    Code("V043", "warning", "The history starts with a response.", "Google, if it calls a tool"),
    Code("V044", "warning", "A system prompt stands after the start.", ""),
    Code("V045", "warning", "A tool return stands behind a prompt in its request.", "OpenAI, by way of PydanticAI 1.x"),
    Code("V046", "warning", "A built-in tool's return has no call before it in its response.", ""),
    Code("V050", "warning", "A prompt or text is empty; PydanticAI leaves it out for Anthropic, which refuses empty texts.", ""),
    Code("V060", "error", "A message of a session history is no object, or has no role.", "readers of sessions"),
    Code("V061", "warning", "A result of a session history answers no request.", ""),
    Code("V062", "warning", "A request of a session history has no result.", ""),
    Code("V063", "warning", "Two copies of one result of a session history differ.", ""),
    Code("V064", "error", "A list of a session history is none, or an item of it is no object.", "readers of sessions"),
    Code("V065", "warning", "The name, content or call id of a result of a session history is no text.", ""),
    Code("V101", "error", "Something outside the contents of tool returns differs from the original (law 1).", "`--against`"),
    Code("V102", "error", "Bytes outside the contents differ from the original, though they say the same (law 1).", "`--against`"),
    Code("V103", "error", "The content of a return that is never touched differs from the original (law 1).", "`--against`"),
    Code("V104", "error", "A content, or a value in it, is of another type (law 2).", "`--against`"),
    Code("V105", "error", "A number, boolean or null has another value (law 2).", "`--against`"),
    Code("V106", "error", "A root key is gone, or a root list or text is empty (law 3).", "`--against`"),
    Code("V107", "error", "A key is not in the original (law 4).", "`--against`"),
    Code("V108", "error", "Keys stand in another order (law 4).", "`--against`"),
    Code("V109", "error", "An item is not in the original, or not in this order (law 4).", "`--against`"),
    Code("V110", "error", "A text is no text of the original with pieces cut out and a mark in their place (law 4).", "`--against`"),
    Code("V111", "error", "A mark counts more or less than went, or mentions what was not there (law 4).", "`--against`"),
    Code("V112", "error", "A content is larger than the original (law 7).", "`--against`"),
)
CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}
"""Every code by its name. A code keeps its meaning; new ones are added."""
