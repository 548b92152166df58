"""A server with stdio that uses each feature of MCP: `see` returns what a client sees of it."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types as mt
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import BaseModel

warnings.simplefilter("ignore")  # of MCP: later versions of the protocol have no sampling, for example
URI = "data://report"
PNG = "aGVsbG8="
cancelled: list[str] = []
Context = ServerRequestContext[Any]


async def sample(context: Context) -> Any:
    text = mt.TextContent(text="What is new?")
    message = mt.SamplingMessage(role="user", content=text)
    result = await context.session.create_message([message], max_tokens=5, system_prompt="Be brief.", temperature=0.5)
    return result.model_dump(mode="json")


async def elicit(context: Context) -> Any:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    return (await context.session.elicit_form("Who are you?", schema)).model_dump(mode="json")


async def roots(context: Context) -> Any:
    return (await context.session.list_roots()).model_dump(mode="json")


async def progress(context: Context) -> Any:
    await context.session.report_progress(1, 2, "half")
    await context.session.report_progress(2, 2)


async def log(context: Context) -> Any:
    await context.session.send_log_message("warning", {"a": [1, None]}, "logs")
    await context.session.send_log_message("info", "text")


async def change(context: Context) -> Any:
    await context.session.send_tool_list_changed()
    await context.session.send_resource_list_changed()
    await context.session.send_prompt_list_changed()
    await context.session.send_resource_updated(URI)


async def wait(context: Context) -> Any:
    try:
        await anyio.sleep(60)
    except asyncio.CancelledError:
        cancelled.append("wait")
        raise


async def list_cancelled(context: Context) -> Any:
    return cancelled


async def fail(context: Context) -> Any:
    raise ValueError("no network")


TOOLS: list[Callable[[Context], Awaitable[Any]]] = [
    sample, elicit, roots, progress, log, change, wait, list_cancelled, fail,
]  # fmt: skip


async def list_tools(context: Context, params: Any) -> mt.ListToolsResult:
    cursor = params and params.cursor
    tools = TOOLS[5:] if cursor == "more" else TOOLS[:5]
    annotations = mt.ToolAnnotations(read_only_hint=True)
    listed = [
        mt.Tool(name=each.__name__, title="A tool", input_schema={"type": "object"}, annotations=annotations)
        for each in tools
    ]
    return mt.ListToolsResult(tools=listed, next_cursor=None if cursor else "more")


async def call_tool(context: Context, params: mt.CallToolRequestParams) -> mt.CallToolResult:
    chosen = {tool.__name__: tool for tool in TOOLS}.get(params.name)
    if chosen is None:
        return mt.CallToolResult(content=[mt.TextContent(text="no such tool")], is_error=True)
    value = await chosen(context)
    image = mt.ImageContent(data=PNG, mime_type="image/png")
    link = mt.ResourceLink(uri=URI, name="report")
    text = mt.TextContent(text=repr(value), annotations=mt.Annotations(priority=1))
    structure = {"value": value, "arguments": params.arguments}
    return mt.CallToolResult(content=[text, image, link], structured_content=structure, _meta={"page": 1})


async def list_resources(context: Context, params: Any) -> mt.ListResourcesResult:
    return mt.ListResourcesResult(resources=[mt.Resource(uri=URI, name="report", mime_type="text/plain", size=5)])


async def list_templates(context: Context, params: Any) -> mt.ListResourceTemplatesResult:
    return mt.ListResourceTemplatesResult(
        resource_templates=[mt.ResourceTemplate(uri_template="data://{name}", name="any")]
    )


async def read_resource(context: Context, params: mt.ReadResourceRequestParams) -> mt.ReadResourceResult:
    text = mt.TextResourceContents(uri=params.uri, text="line\n" * 100, mime_type="text/plain")
    blob = mt.BlobResourceContents(uri=params.uri, blob=PNG, mime_type="image/png")
    return mt.ReadResourceResult(contents=[text, blob])


async def subscribe(context: Context, params: mt.SubscribeRequestParams) -> mt.EmptyResult:
    await context.session.send_resource_updated(params.uri)
    return mt.EmptyResult()


async def unsubscribe(context: Context, params: mt.UnsubscribeRequestParams) -> mt.EmptyResult:
    return mt.EmptyResult()


async def list_prompts(context: Context, params: Any) -> mt.ListPromptsResult:
    argument = mt.PromptArgument(name="about", description="What?", required=True)
    return mt.ListPromptsResult(prompts=[mt.Prompt(name="ask", title="Ask", arguments=[argument])])


async def get_prompt(context: Context, params: mt.GetPromptRequestParams) -> mt.GetPromptResult:
    text = mt.TextContent(text=f"About {params.arguments}")
    messages = [mt.PromptMessage(role=role, content=text) for role in ("user", "assistant")]
    return mt.GetPromptResult(description="A prompt", messages=messages)


async def complete(context: Context, params: mt.CompleteRequestParams) -> mt.CompleteResult:
    values = [params.argument.value + "1", params.argument.value + "2"]
    return mt.CompleteResult(completion=mt.Completion(values=values, total=20, has_more=True))


async def set_level(context: Context, params: mt.SetLevelRequestParams) -> mt.EmptyResult:
    return mt.EmptyResult()


async def serve() -> None:
    server = Server[Any](
        "features",
        version="7.1",
        instructions="Ask me.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=set_level,
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


async def see(command: list[str], errors: Path) -> dict[str, Any]:
    """Use each feature of the server that a command starts, and return all that its client receives."""
    seen: dict[str, Any] = {}

    def receive(kind: str, answer: Any = None) -> Callable[..., Any]:
        async def received(*given: Any) -> Any:
            values = [value.model_dump(mode="json") if isinstance(value, BaseModel) else value for value in given]
            seen.setdefault(kind, []).append([value for value in values if not hasattr(value, "session")])
            return answer

        return received

    reply = mt.CreateMessageResult(role="assistant", content=mt.TextContent(text="Nothing."), model="script")
    root = mt.Root(uri="file:///data", name="data")
    with errors.open("w") as log:
        parameters = StdioServerParameters(command=command[0], args=command[1:])
        async with (
            stdio_client(parameters, errlog=log) as streams,
            ClientSession(
                *streams,
                sampling_callback=receive("sampling", reply),
                elicitation_callback=receive("elicitation", mt.ElicitResult(action="accept", content={"name": "x"})),
                list_roots_callback=receive("roots", mt.ListRootsResult(roots=[root])),
                logging_callback=receive("logs"),
                message_handler=receive("messages"),
            ) as session,
        ):
            await use(session, seen, receive("progress"))
    return seen


async def use(session: ClientSession, seen: dict[str, Any], progress: Any) -> None:
    async def step(name: str, request: Awaitable[Any]) -> None:
        try:
            seen[name] = (await request).model_dump(mode="json")
        except Exception as error:
            seen[name] = repr(error)
        await anyio.sleep(0.1)  # for notifications after the result

    await step("initialize", session.initialize())
    await step("ping", session.send_ping())
    await step("level", session.set_logging_level("info"))
    await step("tools", session.list_tools())
    await step("more tools", session.list_tools(params=mt.PaginatedRequestParams(cursor="more")))
    for tool in (sample, elicit, roots, log, change, fail):
        await step(f"call {tool.__name__}", session.call_tool(tool.__name__, {"x": [1]}))
    await step("unknown tool", session.call_tool("unknown"))
    await step("call progress", session.call_tool("progress", progress_callback=progress))
    with anyio.move_on_after(0.5):
        await session.call_tool("wait")
    await step("cancelled", session.call_tool("list_cancelled"))
    await step("resources", session.list_resources())
    await step("templates", session.list_resource_templates())
    await step("read", session.read_resource(URI))
    await step("read template", session.read_resource("data://other"))
    await step("subscribe", session.subscribe_resource(URI))
    await step("unsubscribe", session.unsubscribe_resource(URI))
    await step("prompts", session.list_prompts())
    await step("prompt", session.get_prompt("ask", {"about": "this"}))
    reference = mt.PromptReference(name="ask")
    await step("complete", session.complete(reference, {"name": "about", "value": "a"}, {"other": "b"}))
    await step("roots changed", _sent(session.send_roots_list_changed()))
    await step("again", session.call_tool("list_cancelled"))


async def _sent(request: Awaitable[None]) -> mt.EmptyResult:
    await request
    return mt.EmptyResult()


if __name__ == "__main__":
    asyncio.run(serve())
