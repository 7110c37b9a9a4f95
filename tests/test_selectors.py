"""The language for "which spans": what it means, and what is said when it means nothing."""

import pytest

from latshift.components import Classified, Rule, classify
from latshift.errors import EditError
from latshift.forest import build
from latshift.selectors import match, parse
from latshift.spans import Forest, InputSummary
from tests.tiny import table

#   root (app, chat-api)
#   ├── auth.verify (auth) ── POST (auth)
#   ├── pg read (database/postgresql, region eu-1)
#   ├── sql write (database, region us-1)
#   ├── chat (llm, first token at 40) ── inner (app, worker)
#   └── slot.acquire (queue)
ROWS = [
    {"id": "root", "start": 0, "end": 100, "kind": "server", "service": "chat-api"},
    {"id": "auth", "parent": "root", "name": "auth.verify", "start": 0, "end": 9},
    {"id": "post", "parent": "auth", "name": "POST", "start": 1, "end": 8, "kind": "client", "http_method": "POST"},
    {"id": "pg", "parent": "root", "name": "pg read", "start": 10, "end": 20, "attr:region": "eu-1"},
    {
        "id": "sql",
        "parent": "root",
        "name": "sql write",
        "start": 20,
        "end": 30,
        "attr:region": "us-1",
        "input_tokens": 7,
    },
    {
        "id": "chat",
        "parent": "root",
        "name": "chat",
        "start": 30,
        "end": 90,
        "operation": "chat",
        "ttft": 40,
        "model": "m-1",
    },
    {"id": "inner", "parent": "chat", "name": "compute", "start": 40, "end": 50, "service": "worker"},
    {"id": "slot", "parent": "root", "name": "slot.acquire", "start": 90, "end": 95},
]


def example() -> tuple[Forest, Classified]:
    forest = build(table([{"service": "svc", **row} for row in ROWS]), InputSummary())
    return forest, classify(forest, [Rule("database/postgresql", name="pg *")])


def select(text: str) -> tuple[set[str], str | None]:
    forest, classified = example()
    selection = match(parse(text), forest, classified)
    return {forest.spans.span_id_text(row) for row in selection.rows.nonzero()[0].tolist()}, selection.phase


MEANINGS = [
    ("llm", {"chat"}, None),
    ("auth", {"auth", "post"}, None),
    ("database", {"pg", "sql"}, None),
    ("database/postgresql", {"pg"}, None),
    ("database/*", {"pg"}, None),
    ("class:model", {"chat"}, None),
    ("class:queue", {"slot"}, None),
    ("class:non-model & name:p*", {"pg"}, None),
    ("name:POST", {"post"}, None),
    ("name:*e*&service:svc", {"auth", "pg", "sql", "slot"}, None),
    ("service:chat-*", {"root"}, None),
    ("attr:region=eu-*", {"pg"}, None),
    ("attr:model=m-?", {"chat"}, None),
    ("attr:gen_ai.request.model=m-?", {"chat"}, None),
    ("attr:gen_ai.usage.input_tokens=7", {"sql"}, None),
    ("attr:input_tokens=7", {"sql"}, None),
    ("auth/**", {"auth", "post"}, None),
    ("llm/**", {"chat", "inner"}, None),
    (" service:chat-api/** ", {row["id"] for row in ROWS}, None),
    ("llm.first-token", {"chat"}, "llm.first-token"),
    ("llm.stream & name:chat", {"chat"}, "llm.stream"),
]


@pytest.mark.parametrize(("text", "ids", "phase"), MEANINGS)
def test_meaning(text: str, ids: set[str], phase: str | None) -> None:
    assert select(text) == (ids, phase)


NONSENSE = [
    ("", "is empty"),
    ("llm &", "empty"),
    ("nmae:x", "unknown prefix"),
    ("name:", "nothing after"),
    ("attr:region", "expected attr:KEY=GLOB"),
    ("attr:=x", "expected attr:KEY=GLOB"),
    ("class:modle", "there is no class"),
    ("llm=2x", "expected a component"),
    ("llm.decode & llm.prefill", "two phases"),
    ("llm.decode/**", "nothing beneath"),
]


@pytest.mark.parametrize(("text", "message"), NONSENSE)
def test_nonsense_is_refused_with_a_way_out(text: str, message: str) -> None:
    with pytest.raises(EditError) as caught:
        parse(text)
    assert message in caught.value.message and caught.value.hint


NOTHING = [
    ("lmm", "did you mean llm"),
    ("databse", "did you mean database"),
    ("AUTH", "did you mean auth"),
    ("slot.acquire", "did you mean name:slot.acquire"),
    ("worker", "did you mean service:worker"),
    ("verify", "name:auth.verify"),
    ("name:auth.verfy", "did you mean name:auth.verify"),
    ("service:chatapi", "did you mean service:chat-api"),
    ("llm.decode", "phases that they show: llm.first-token, llm.stream"),
    ("llm.strem", "did you mean llm.stream"),
    ("rerank", "components are"),
    ("attr:region=xx", "components that do"),
    ("attr:tenant=gold", "latshift.toml"),
    ("llm & name:POST", ""),
    ("zzzzzz", "components are app, auth, database"),
]


@pytest.mark.parametrize(("text", "hint"), NOTHING)
def test_a_selector_that_matches_nothing_names_near_matches(text: str, hint: str) -> None:
    with pytest.raises(EditError) as caught:
        select(text)
    assert hint in caught.value.hint and caught.value.hint


def test_a_phase_covers_refined_components() -> None:
    forest = build(table(ROWS), InputSummary())
    classified = classify(forest, [Rule("llm/openai", attributes={"model": "m-*"})])
    selection = match(parse("llm.stream"), forest, classified)
    assert selection.rows.sum() == 1
    rows = selection.rows.nonzero()[0]
    ends = forest.spans.array("end")[rows]
    assert classified.phases.overlap(rows, ends - 30, ends, "llm.stream").tolist() == [20]


def test_keys_and_text_are_kept() -> None:
    selector = parse(" llm & attr:a.b=c/** ")
    assert (selector.keys, selector.beneath, str(selector)) == (("a.b",), True, "llm & attr:a.b=c/**")
