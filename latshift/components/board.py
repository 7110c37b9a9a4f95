"""The board on which spans are decided: whoever comes first decides, later voices hear only what is still open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from latshift.components.globs import words_in_use
from latshift.spans import Array, Bool, Coded, Int32, Int64


class Role(IntEnum):
    """What a span is with regard to the span above it."""

    OWN = 0
    """It has a meaning of its own."""
    TRANSPORT = 1
    """It carries a call: under a span with a meaning it is part of that call."""
    PART = 2
    """It is a piece of a model call."""


@dataclass(frozen=True)
class Verdict:
    """What was decided about a span, and why.

    Attributes:
        component: Name of the component (for TRANSPORT and PART: if there is nothing to inherit).
        rule: Which rule decided, in a few words.
        role: See `Role`. phase: Phase of a PART ("" none, "whole" undivided).
        known: False where nothing but the default was left.
    """

    component: str
    rule: str
    role: Role = Role.OWN
    phase: str = ""
    known: bool = True


Judge = Callable[[str], Verdict | None]


@dataclass
class Board:
    """Verdicts of all spans so far.

    Attributes:
        n: Number of spans. verdict: int32 (n,), index into `verdicts`, -1 where still open.
        open: Rows still open, ascending. verdicts: Distinct verdicts.
    """

    n: int
    verdict: Int32 = field(init=False)
    open: Int64 = field(init=False)
    verdicts: list[Verdict] = field(default_factory=list)
    _index: dict[Verdict, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.verdict = np.full(self.n, -1, np.int32)
        self.open = np.arange(self.n)

    def decide(self, where: Bool, verdict: Verdict) -> None:
        """Decide all open spans of a mask, bool (n,)."""
        hits = where[self.open]
        if hits.any():
            self._settle(np.where(hits, self._number(verdict), -1))

    def by_word(self, column: Coded, judge: Judge, where: Bool | None = None) -> None:
        """Let a judge look at each distinct word of a column; what it says holds for all open spans with that word.

        Args:
            column: Text column of n rows.
            judge: Word to verdict, or None if the word decides nothing.
            where: bool (n,), spans the judge may decide; None for all.
        """
        if not column.words or not len(self.open):
            return
        codes = column.codes[self.open]
        if where is not None:
            codes = np.where(where[self.open], codes, -1)
        table = np.full(len(column.words) + 1, -1, np.int32)
        for code in words_in_use(Coded(codes, column.words)):
            verdict = judge(column.words[code])
            if verdict is not None:
                table[code] = self._number(verdict)
        self._settle(table[codes])

    def spread(self, number: Int64) -> Board:
        """Return a board on which row i has the verdict that row number[i] has here."""
        board = Board(len(number))
        board.verdict = self.verdict[number]
        board.open = np.flatnonzero(board.verdict < 0)
        board.verdicts = self.verdicts
        return board

    def lookup(self, values: list[int], dtype: type) -> Array:
        """Map every span through one value per verdict; all spans must be decided."""
        return np.asarray(values, dtype)[self.verdict]

    def _number(self, verdict: Verdict) -> int:
        number = self._index.setdefault(verdict, len(self.verdicts))
        if number == len(self.verdicts):
            self.verdicts.append(verdict)
        return number

    def _settle(self, numbers: Array) -> None:
        settled = numbers >= 0
        if settled.any():
            self.verdict[self.open[settled]] = numbers[settled]
            self.open = self.open[~settled]
