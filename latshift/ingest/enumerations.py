"""Kinds, statuses and names of events in all their spellings; each spelling is looked at once."""

from __future__ import annotations

import re
from typing import Any

LONGEST_NAME = 64
"""Characters up to which a text may be the name of an event."""

_FIRST_TOKEN = re.compile(r"first.?(token|chunk)", re.IGNORECASE)
_FIRST_TOKEN_EVENTS = frozenset(
    {"gen_ai.content.completion.chunk", "llm.content.completion.chunk", "mlflow.chunk.item.0", "new_token"}
)
_KINDS = {"unspecified": 0, "internal": 1, "server": 2, "client": 3, "producer": 4, "consumer": 5}
_STATUSES = {"unset": 0, "ok": 1, "error": 2}


class Enumeration(dict[Any, int]):
    """Numbers and names of an OTLP enumeration to its numbers; 0 for what it does not have."""

    def __init__(self, names: dict[str, int]) -> None:
        super().__init__(names)
        # Known beforehand, for True and 1.0 are the same keys as 1.
        self.update((number, number) for number in names.values())
        self._names = names

    def __missing__(self, value: Any) -> int:
        word = str(value).lower().rpartition(".")[2]
        for prefix in ("span_kind_", "status_code_"):
            word = word.removeprefix(prefix)
        number = self._names.get(word, int(word) if word.isdecimal() and len(word) == 1 else 0)
        self[value] = number if number < len(self._names) else 0
        return self[value]


class FirstTokenNames(dict[Any, bool]):
    """Name of an event to whether it marks the first token or chunk of an answer."""

    def __missing__(self, name: Any) -> bool:
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            return False  # A message, perhaps; nothing to remember.
        self[name] = name in _FIRST_TOKEN_EVENTS or bool(_FIRST_TOKEN.search(name))
        return self[name]


KINDS = Enumeration(_KINDS)
STATUSES = Enumeration(_STATUSES)
IS_FIRST_TOKEN = FirstTokenNames()
