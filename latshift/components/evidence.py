"""What a model call's own attributes say about its phases, checked before it is believed.

Evidence levels (llm_conventions.md section 5.2): 3 queue, prefill and decode of an engine; 2 queue and time to first
token; 1 time to first token; 0 nothing. Impossible values are dropped and counted, never clamped (trap T10).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from latshift.components.globs import matching
from latshift.spans import NULL, Array, Bool, Int64, SpanTable

ABSURD_FACTOR = 1.5
"""An engine time longer than the span by more than this is not a time of this span."""

ROUNDING_NS = 1_000_000
"""Exporters write seconds as floats or whole milliseconds: times may pass the end of the span by this."""

LATE_EVENT_NS = 1_000_000
"""An event this close to the end of the span was written when the span ended, not when the token came (trap T2)."""


@dataclass
class Evidence:
    """Times of model calls, int64 ns of shape (k,) each; NULL where unknown.

    Attributes:
        rows: Rows of the calls. start, end: ns since the epoch.
        queue, prefill, decode: Durations. first_token: Offset of the first token from the start.
        level: int8 (k,), 0 to 3.
        impossible: Number of values dropped because they cannot be.
    """

    rows: Int64
    start: Int64
    end: Int64
    queue: Int64
    prefill: Int64
    decode: Int64
    first_token: Int64
    level: Array
    impossible: int

    def take(self, chosen: Bool) -> Evidence:
        """Return the evidence of some of the calls, bool (k,)."""
        arrays = [item.name for item in fields(self) if item.name != "impossible"]
        return replace(self, **{name: getattr(self, name)[chosen] for name in arrays})


def gather(table: SpanTable, rows: Int64) -> Evidence:
    """Read and check the times of the given model calls.

    Args:
        table: The spans.
        rows: int64 (k,), rows of model calls.
    """
    start, end = table.array("start")[rows], table.array("end")[rows]
    duration = end - start
    engine = {name: table.array(f"{name}_time")[rows] for name in ("queue", "prefill", "decode")}
    dropped = 0
    for name, value in engine.items():
        engine[name], count = _plausible(value, ABSURD_FACTOR * duration + ROUNDING_NS)
        dropped += count
    sglang = matching(table.text("scope"), "sglang*")[rows] | matching(table.text("service"), "sglang*")[rows]
    # SGLang's prefill time starts when the request leaves the API server: it holds the queue too (trap T1).
    for name in ("queue", "prefill"):
        engine[name] = np.where(sglang, NULL, engine[name])
    together = sum(np.maximum(value, 0) for value in engine.values())
    impossible_sum = together > ABSURD_FACTOR * duration + ROUNDING_NS
    dropped += int(impossible_sum.sum())
    queue, prefill, decode = (np.where(impossible_sum, NULL, engine[name]) for name in ("queue", "prefill", "decode"))
    first_token, count = _first_token(table, rows, start, end)
    dropped += count
    three = (queue != NULL) & (prefill != NULL) & (decode != NULL)
    contradiction = ~three & (queue != NULL) & (first_token != NULL) & (first_token < queue)
    dropped += int(contradiction.sum())
    queue = np.where(contradiction, NULL, queue)
    level = np.zeros(len(rows), np.int8)
    level[first_token != NULL] = 1
    level[(first_token != NULL) & (queue != NULL)] = 2
    level[three] = 3
    return Evidence(rows, start, end, queue, prefill, decode, first_token, level, dropped)


def _plausible(value: Int64, most: Array) -> tuple[Int64, int]:
    """Drop negative values and those above a limit; return the rest and how many were dropped."""
    wrong = (value != NULL) & ((value < 0) | (value > most))
    return np.where(wrong, NULL, value), int(wrong.sum())


def _first_token(table: SpanTable, rows: Int64, start: Int64, end: Int64) -> tuple[Int64, int]:
    """Return the offset of the first token, from the attribute or else from the event, and how many were dropped."""
    duration = end - start
    value, dropped = _plausible(table.array("ttft")[rows], duration + ROUNDING_NS)
    moment = table.array("first_token_at")[rows]
    known = (moment != NULL) & (value == NULL)
    offset = np.where(known, moment, start) - start
    # Wall-clock times are often whole milliseconds: a little before the start is the start.
    offset = np.where((offset < 0) & (offset >= -ROUNDING_NS), 0, offset)
    event, count = _plausible(np.where(known, offset, NULL), duration + ROUNDING_NS)
    tokens = table.array("output_tokens")[rows]
    one_token: Bool = (tokens == 0) | (tokens == 1)
    written_at_end = (event != NULL) & (duration - event <= LATE_EVENT_NS) & ~one_token
    event = np.where(written_at_end, NULL, event)
    value = np.where(value == NULL, event, value)
    return np.where(value == NULL, NULL, np.minimum(value, duration)), dropped + count
