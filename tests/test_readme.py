"""The README's commands are run, and print what the README says. `make readme` writes what they print now."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n\$ latshift (?P<command>.*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
PYTHON = re.compile(r"^```python\n(?P<code>(?:.*\n)*?)```$", re.MULTILINE)


def run(command: str, folder: Path) -> str:
    """Run a command of the README as a person would: piped, 100 columns wide, without colour."""
    environment = {**os.environ, "LATSHIFT_CACHE_DIR": str(folder), "COLUMNS": "100", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-m", "latshift", *command.split()],
        capture_output=True, text=True, encoding="utf-8", cwd=ROOT, env=environment, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout.strip("\n") + "\n"


@pytest.mark.parametrize("block", list(BLOCK.finditer(README.read_text("utf-8"))), ids=lambda block: block["command"])
def test_commands_print_what_the_readme_shows(block: re.Match[str], tmp_path: Path) -> None:
    assert run(block["command"], tmp_path) == block["output"]


def test_the_python_example_runs(tmp_path: Path) -> None:
    found = PYTHON.search(README.read_text("utf-8"))
    assert found
    environment = {**os.environ, "LATSHIFT_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", found["code"]], check=True, cwd=ROOT, env=environment, timeout=120)


def main() -> None:
    """Write what the commands print now into the README."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:

        def renewed(block: re.Match[str]) -> str:
            return f"```console\n$ latshift {block['command']}\n{run(block['command'], Path(folder))}```"

        README.write_text(BLOCK.sub(renewed, README.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
