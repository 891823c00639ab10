"""The official MCP client talks to `python -m kbfile mcp`."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import kbfile
import pytest

mcp = pytest.importorskip("mcp", reason="the official MCP client is not installed: pip install mcp")

EXAMPLE = Path(__file__).parent.parent / "examples" / "mcp_tool.py"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes.kb"
    with kbfile.open(path, "w") as kb:
        kb.add("# Tides\n\nThe moon pulls the sea twice a day.", path="sea/tides.md")
        kb.add("# Bread\n\nFlour, water, salt and patience.", path="kitchen/bread.md")
    return path


def _environment() -> dict[str, str]:
    # The server runs in another folder: relative entries of the path would not be found there.
    folders = [os.path.abspath(folder) for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    return os.environ | {"PYTHONPATH": os.pathsep.join(folders)}


def test_the_example_prints_passages(path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(EXAMPLE), path.name, "why does the sea rise"],
        cwd=path.parent,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert "sea/tides.md" in run.stdout and "The moon pulls the sea" in run.stdout


def test_tools_are_listed_and_called(path: Path) -> None:
    async def session() -> tuple[set[str], str, str]:
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "kbfile", "mcp", str(path)],
            env=_environment(),
            cwd=str(path.parent),
        )
        async with mcp.stdio_client(server) as streams, mcp.ClientSession(*streams) as client:
            await client.initialize()
            tools = {tool.name for tool in (await client.list_tools()).tools}
            text = await client.call_tool("get_document", {"doc_handle": "kitchen/bread.md"})
            missing = await client.call_tool("get_document", {"doc_handle": "none.md"})
            return tools, text.content[0].text, missing.content[0].text

    tools, text, missing = asyncio.run(session())
    assert {"search", "get_document", "list_documents"} <= tools
    assert not {"upload_document", "clear_index"} & tools
    assert "Flour, water, salt and patience." in text
    assert "none.md" in missing


def test_the_printed_configuration_starts_the_server(path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "kbfile", "mcp", str(path), "--print-config", "claude"],
        cwd=path.parent,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    (server,) = json.loads(run.stdout)["mcpServers"].values()
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    answer = subprocess.run(
        [server["command"], *server["args"]],
        input=json.dumps(request) + "\n",
        cwd=path.parent,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert json.loads(answer.stdout.splitlines()[0])["result"]["serverInfo"]
