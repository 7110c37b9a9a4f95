"""The language of edits: what a what-if changes, by the name of its option.

An edit changes a `Plan`; all are listed in `VERBS` and are applied in the order given. To add one, write a class with
`parse` and `apply` (see `latshift.whatif.plan.Edit`) in the module of its idea, and add a line here:

scaling     stretch or shrink what is there        moving      start earlier
presence    add calls or take them away            chance      take another time by chance
prompts     prefill by uncached tokens             attempts    fewer or more retries
pool_edits  slots and the load on them
"""

from __future__ import annotations

from collections.abc import Callable

from latshift.errors import EditError
from latshift.whatif.attempts import RetryRate
from latshift.whatif.chance import Cache, Hedge, Replace
from latshift.whatif.moving import Parallelize, Prefetch
from latshift.whatif.plan import Edit
from latshift.whatif.pool_edits import Load, Pool
from latshift.whatif.presence import Insert, Remove
from latshift.whatif.prompts import PromptCache
from latshift.whatif.scaling import AddLatency, SpecDecode, Speedup

VERBS: dict[str, Callable[[str], Edit]] = {
    "speedup": Speedup.parse,
    "add-latency": AddLatency.parse,
    "parallelize": Parallelize.parse,
    "remove": Remove.parse,
    "insert": Insert.parse,
    "replace": Replace.parse,
    "prefetch": Prefetch.parse,
    "cache": Cache.parse,
    "retry-rate": RetryRate.parse,
    "hedge": Hedge.parse,
    "spec-decode": SpecDecode.parse,
    "prompt-cache": PromptCache.parse,
    "route": Replace.parse_route,
    "pool": Pool.parse,
    "load": Load.parse,
}
"""Every edit: the option's name, and what parses its value."""


def parse_edit(verb: str, text: str) -> Edit:
    """Parse the value of an option.

    Raises:
        EditError: If there is no such edit or the value makes no sense.
    """
    try:
        parser = VERBS[verb]
    except KeyError:
        raise EditError(f"there is no edit '{verb}'", f"edits are {', '.join(VERBS)}") from None
    return parser(text)
