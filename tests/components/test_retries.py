"""Attempts beyond the first, and how sure that is."""

from typing import Any

from latshift.components import classify
from latshift.components.retries import DIRECT, HEURISTIC
from latshift.spans import Forest
from tests.components.builder import MS, by_id, forest

ROOT = {"id": "root", "kind": "server", "end": 1_000_000}
POST = {"parent": "chat", "kind": "client", "http_method": "POST", "name": "POST"}


def states(spans: Forest) -> str:
    """Return the spans that are a retry or were tried again, as "A1 B2"."""
    return " ".join(f"{name}{state}" for name, state in by_id(spans, classify(spans).retry).items() if state)


def chat(*attempts: dict[str, Any]) -> Forest:
    return forest(ROOT, {"id": "chat", "parent": "root", "operation": "chat", "end": 400_000}, *attempts)


def test_posts_under_one_model_call() -> None:
    # chat: A 0-10 (429)  B 30-40 (500)  C 60-90 (200)
    spans = chat(
        {"id": "A", "start": 0, "end": 10, "http_status": 429, **POST},
        {"id": "B", "start": 30, "end": 40, "http_status": 500, **POST},
        {"id": "C", "start": 60, "end": 90, "http_status": 200, **POST},
    )
    assert states(spans) == "A1 B2 C2"
    retries = classify(spans).retries
    assert {name for name, sure in by_id(spans, retries.evidence).items() if sure == HEURISTIC} == {"A", "B", "C"}
    assert [wait // MS for wait in by_id(spans, retries.back_off).values() if wait] == [20, 20]
    previous = by_id(spans, retries.previous)
    assert spans.spans.span_id_text(previous["C"]) == "B"


def test_no_status_is_a_failure_only_if_the_next_has_one() -> None:
    assert (
        states(chat({"id": "A", "end": 10, **POST}, {"id": "B", "start": 20, "end": 30, "http_status": 200, **POST}))
        == "A1 B2"
    )
    assert states(chat({"id": "A", "end": 10, **POST}, {"id": "B", "start": 20, "end": 30, **POST})) == ""


def test_siblings_that_are_no_retries() -> None:
    ok, failed = {"http_status": 200, **POST}, {"status": "error", **POST}
    assert (
        states(chat({"id": "A", "end": 10, **ok}, {"id": "B", "start": 20, "end": 30, **ok})) == ""
    )  # the first was fine
    assert (
        states(chat({"id": "A", "end": 10, **failed}, {"id": "B", "start": 5, "end": 30, **ok})) == ""
    )  # at the same time
    late = {"id": "B", "start": 140_011, "end": 140_020, **ok}
    assert states(chat({"id": "A", "end": 10, **failed}, late)) == ""  # longer than any back-off
    assert (
        states(chat({"id": "A", "end": 10, **failed}, {"id": "B", "start": 10, "end": 20, **ok, "name": "GET"})) == ""
    )
    assert states(chat({"id": "A", "end": 10, **failed}, {"id": "B", "start": 10, "end": 20, **ok})) == "A1 B2"


def test_model_calls_of_the_application() -> None:
    model = {"parent": "root", "operation": "chat", "name": "chat"}
    spans = forest(
        ROOT,
        {"id": "A", "end": 10, "status": "error", "model": "big", **model},
        {"id": "B", "start": 20, "end": 30, "model": "big", **model},
        {"id": "C", "start": 40, "end": 50, "model": "big", **model},
        {"id": "D", "start": 40, "end": 50, "model": "small", **model},
    )
    assert states(spans) == "A1 B2"


def test_parallel_siblings_do_not_hide_the_retry() -> None:
    # A 0-10 fails, B 2-8 is fine meanwhile, C 12-20 is A again
    step = {"parent": "root", "operation": "execute_tool", "name": "tool"}
    spans = forest(
        ROOT,
        {"id": "A", "end": 10, "status": "error", **step},
        {"id": "B", "start": 2, "end": 8, **step},
        {"id": "C", "start": 12, "end": 20, **step},
    )
    assert states(spans) == "A1 C2"


def test_counted_attempts_are_direct_evidence() -> None:
    spans = chat(
        {"id": "A", "end": 10, "status": "error", **POST},
        {"id": "B", "start": 20, "end": 30, "resend_count": 1, **POST},
        {"id": "C", "parent": "root", "name": "model request attempt m", "attempt": 0, "status": "error"},
        {"id": "D", "parent": "root", "name": "model request attempt m", "attempt": 1, "start": 1, "end": 2},
    )
    assert set(states(spans).split()) == {"A1", "B2", "C1", "D2"}
    assert {name for name, sure in by_id(spans, classify(spans).retries.evidence).items() if sure == DIRECT} == {
        "A",
        "B",
        "C",
        "D",
    }


def test_what_lies_beneath_an_attempt_belongs_to_it() -> None:
    spans = chat(
        {"id": "A", "end": 10, "status": "error", **POST},
        {"id": "B", "start": 20, "end": 30, "http_status": 200, **POST},
        {"id": "S", "parent": "B", "name": "tls.connect", "start": 21, "end": 22},
    )
    assert {name for name, inside in by_id(spans, classify(spans).retries.beneath(spans.parent)).items() if inside} == {
        "B",
        "S",
    }


def test_failed_spans_of_no_length_end() -> None:
    spans = chat(
        {"id": "A", "start": 5, "end": 5, "status": "error", **POST},
        {"id": "B", "start": 5, "end": 5, "status": "error", **POST},
    )
    assert states(spans) == "A1 B2"


def test_without_failures_there_are_no_retries() -> None:
    assert states(forest(ROOT, {"id": "A", "parent": "root"})) == ""
