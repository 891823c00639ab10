"""The command line: `kbfile`, or `python -m kbfile`. It is the command `kb`, run by this Python."""

from __future__ import annotations

import os
import shutil
import signal
import sys

from kbfile._kbfile import run_command, run_extraction_worker


def _launcher() -> list[str]:
    """The first words that start this command again, in a configuration of another program."""
    # uvx runs tools in environments of its cache, which it removes again; the name stays.
    if os.environ.get("UV") and "archive-v" in sys.prefix:
        return ["uvx", "kbfile"]
    script = sys.argv[0]
    if os.path.basename(script).startswith("kbfile") and os.access(script, os.X_OK):
        return [os.path.abspath(script)]
    return [os.path.abspath(sys.executable or shutil.which("python3") or "python3"), "-m", "kbfile"]


def main() -> int:
    """Run the command line of this process; return the status to end it with: 0 found or done, 1 nothing, 2 error."""
    arguments = sys.argv[1:]
    if arguments == ["extract-worker"] and not sys.stdin.isatty():
        run_extraction_worker()
    # Python would only note Ctrl-C while the command runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(arguments, _launcher())


if __name__ == "__main__":
    sys.exit(main())
