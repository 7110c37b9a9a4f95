"""Results as JSON: exactly the output contract, the same bytes everywhere."""

from __future__ import annotations

import json

from latshift.results import Result


def json_view(result: Result) -> str:
    """Return a result as JSON, indented, ASCII only (so that no terminal and no encoding can change it)."""
    return json.dumps(result.to_dict(), indent=2, allow_nan=False) + "\n"
