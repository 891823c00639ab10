"""Searches a .kb as an agent does: `pip install kbfile mcp`, then `python mcp_tool.py docs.kb "your question"`."""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client


async def ask(file: str, question: str) -> str:
    arguments = ["-m", "kbfile", "mcp", file]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        result = await session.call_tool("search", {"query": question, "limit": 3})
        return result.content[0].text


if __name__ == "__main__":
    print(asyncio.run(ask(sys.argv[1], sys.argv[2])))
