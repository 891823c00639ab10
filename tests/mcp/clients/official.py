"""The server through the official Python client (PyPI: mcp), over pipes and over HTTP, with and
without the handshake of older revisions. Exit status 0: everything as expected.

usage: official.py (--url URL | -- command arguments...)
"""

import argparse
import asyncio

from mcp import Client, MCPError, StdioServerParameters


async def check(server, mode):
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert {"search", "search_docs", "search_code", "get_document"} <= tools, tools

        # The client validates the structured form against the published schema.
        found = await client.call_tool("search_docs", {"query": "how is the lamp kept", "top_k": 3})
        assert not found.is_error and found.structured_content["results"], found
        path = found.structured_content["results"][0]["path"]
        assert path in found.content[0].text

        read = await client.call_tool("get_document", {"doc_handle": path})
        assert read.structured_content["document_id"] == path

        wrong = await client.call_tool("search_docs", {"query": "x", "top_k": 99})
        assert wrong.is_error and wrong.content[0].text.startswith("INVALID_ARGUMENT: "), wrong
        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("an unknown tool was answered")
        except MCPError as error:
            assert error.error.code == -32602, error

        resources = (await client.list_resources()).resources
        uri = str(next(one.uri for one in resources if one.name == path))
        contents = (await client.read_resource(uri)).contents
        assert contents[0].text == read.structured_content["body"]

        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert "answer_from_docs" in prompts, prompts
        prompt = await client.get_prompt("answer_from_docs", {"question": "what burns?"})
        assert "what burns?" in prompt.messages[0].content.text
        print(f"ok: Python, {mode}, {client.protocol_version}, {len(tools)} tools")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--url")
    parser.add_argument("command", nargs="*")
    given = parser.parse_args()
    for mode in ("auto", "legacy", "2026-07-28"):
        server = given.url or StdioServerParameters(command=given.command[0], args=given.command[1:])
        await check(server, mode)


asyncio.run(main())
