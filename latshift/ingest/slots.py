"""Attributes on their way into columns: they wait in slots, and leave as codes or as numbers in canonical units."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from latshift.ingest import converters as to
from latshift.ingest.conventions import ATTRIBUTE_COLUMNS, SOURCES
from latshift.ingest.converters import Plain
from latshift.ingest.values import plain


class Words(dict[Any, int]):
    """A vocabulary: a word to its code, in the order of first use."""

    def __missing__(self, word: Any) -> int:
        code = self[word] = len(self)
        return code


class _Codes(dict[Any, int]):
    """Raw value to the code of its converted text, -1 where it converts to nothing."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        super().__init__()
        self.convert = convert
        self.words = Words()

    def __missing__(self, value: Any) -> int:
        if value is None:
            raise TypeError
        word = self.convert(value)
        code = self[value] = -1 if word is None else self.words[word]
        return code


@dataclass
class Fragment:
    """What one attribute key contributes to one column.

    Attributes:
        column: Name of the column. rank: Place of the key among the column's sources; the lowest wins.
        rows: Rows that have it, ascending. values: Codes into `words` (text columns) or numbers.
        words: Vocabulary, None for columns of numbers.
    """

    column: str
    rank: int
    rows: array[int] = field(default_factory=lambda: array("i"))
    values: array[int] = field(default_factory=lambda: array("q"))
    words: list[str] | None = None


class TextFragment:
    """Fills a `Fragment` of texts."""

    def __init__(self, column: str, rank: int, convert: Callable[[Any], Any]) -> None:
        self.fragment = Fragment(column, rank, values=array("i"))
        self._codes = _Codes(convert)

    def add(self, rows: Sequence[int], values: Iterable[Any]) -> None:
        """Add the values of some rows.

        Raises:
            TypeError: If there is nothing or a list among them; nothing has been added then.
        """
        codes = list(map(self._codes.__getitem__, values))
        self.fragment.rows.extend(rows)
        self.fragment.values.extend(codes)

    def add_any(self, rows: Sequence[int], values: Sequence[Plain]) -> None:
        """Add the values of some rows, leaving out what is nothing."""
        texts = [to.text(value) if isinstance(value, list) else value for value in values]
        present = [place for place, value in enumerate(texts) if value is not None]
        self.add([rows[place] for place in present], [texts[place] for place in present])

    def finish(self) -> Fragment:
        """Return the fragment."""
        self.fragment.words = list(self._codes.words)
        return self.fragment


class NumberFragment:
    """Fills a `Fragment` of numbers."""

    def __init__(self, column: str, rank: int, convert: Callable[[Any], Any]) -> None:
        self.fragment = Fragment(column, rank)
        self._convert = convert

    def add(self, rows: Sequence[int], values: Sequence[Any]) -> None:
        """Add the values of some rows; those that cannot be converted are left out.

        Raises:
            TypeError, OverflowError: If there is something unexpected among them; nothing has been added then.
        """
        if self._convert is to.integer:
            numbers = array("q", values)
            self.fragment.rows.extend(rows)
            self.fragment.values.extend(numbers)
        elif None in values:
            raise TypeError
        else:
            self.add_any(rows, values)

    def add_any(self, rows: Sequence[int], values: Sequence[Plain]) -> None:
        """Add the values of some rows; those that cannot be converted are left out."""
        for row, value in zip(rows, values, strict=True):
            number = self._convert(value)
            if number is not None:
                self.fragment.rows.append(row)
                self.fragment.values.append(number)

    def finish(self) -> Fragment:
        """Return the fragment."""
        return self.fragment


_FIELDS = {to.integer: "int_value", to.seconds: "double_value", to.milliseconds: "double_value", to.flag: "bool_value"}


class Slot:
    """Where the values of one attribute key wait.

    Attributes:
        rows, values: Rows, and values as decoded (wrapped or plain).
        expected: Takes the plain value out of a wrapped one of the expected type; None or an error otherwise.
        targets: The fragments to fill.
    """

    __slots__ = ("expected", "rows", "targets", "values")

    def __init__(self, key: str, rank: int = 0) -> None:
        self.rows: list[int] = []
        self.values: list[Any] = []
        self.targets: list[TextFragment | NumberFragment] = []
        sources = [(ATTRIBUTE_COLUMNS[name], place) for name, place in SOURCES.get(key, ())]
        for column, place in sources:
            kind = TextFragment if column.storage == "text" else NumberFragment
            self.targets.append(kind(column.name, rank + place, column.sources[place].convert))
        first = sources[0][0].sources[sources[0][1]].convert if sources else to.text
        self.expected = attrgetter(_FIELDS.get(first, "string_value"))  # type: ignore[arg-type]

    def flush(self) -> None:
        """Turn what waits into columns."""
        try:
            values = list(map(self.expected, self.values))
            for target in self.targets:
                target.add(self.rows, values)
        except (AttributeError, TypeError, OverflowError):
            # Values are plain already, absent, or of another type than most.
            plains = [plain(value) for value in self.values]
            for target in self.targets:
                target.add_any(self.rows, plains)
        self.rows.clear()
        self.values.clear()
