"""What a user does first with an installed wheel; `cargo xtask wheel` runs it. No test of pytest: nothing is installed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import kbfile

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "notes.kb"
    with kbfile.open(path, "w") as kb:
        kb.add("# Tides\n\nThe moon pulls the sea.", path="tides.md")
        kb.add(b"{\\rtf1 Read by a worker.}", path="worker.rtf")
    with kbfile.open(path) as kb:
        assert kb.search("why does the sea rise")[0].document == "tides.md"
        assert "worker" in kb["worker.rtf"].text
        assert kb.verify(deep=True)
    command = Path(sys.executable).with_name("kbfile")
    found = subprocess.run([command, "search", "-f", path, "moon"], capture_output=True, text=True, check=True)
    assert "tides.md" in found.stdout, found
    configured = subprocess.run([command, "mcp", path, "--print-config", "claude"], capture_output=True, text=True, check=True)
    assert str(command) in configured.stdout, configured
print(f"kbfile {kbfile.__version__}: well")
