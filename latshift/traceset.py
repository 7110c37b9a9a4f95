"""What people hold: the requests that were read, and everything that is computed from them when first asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from latshift.components import Classified, classify
from latshift.config import Config
from latshift.critical_path import CriticalPath, PathOptions, find
from latshift.critical_path.attribution import Attribution, attribute
from latshift.errors import InputError
from latshift.spans import Coded, Forest, InputSummary, Int32, Int64

if TYPE_CHECKING:
    import polars

    from latshift.whatif.model import ReplayModel


@dataclass(frozen=True)
class RequestFilter:
    """Which requests the statistics stand on.

    Attributes:
        root: Glob for "service operation" or the operation alone. service: Glob for a service the request passes
            through. since, until: ns since the epoch, bounds for the request's start (until excluded).
        include_incomplete: Count requests whose root is missing too.
    """

    root: str | None = None
    service: str | None = None
    since: int | None = None
    until: int | None = None
    include_incomplete: bool = False


@dataclass
class TraceSet:
    """Requests read from traces.

    Attributes:
        forest: Spans under their parents. input: What was read and what could not be used.
        filter: Which requests count. config: Rules and budgets. path_options: What counts as waiting.
    """

    forest: Forest
    input: InputSummary
    filter: RequestFilter = field(default_factory=RequestFilter)
    config: Config = field(default_factory=Config)
    path_options: PathOptions = field(default_factory=PathOptions)

    def __repr__(self) -> str:
        return (
            f"<TraceSet: {self.input.requests} requests ({self.input.incomplete} incomplete), "
            f"{self.input.spans} spans, {self.input.traces} traces>"
        )

    @cached_property
    def path(self) -> CriticalPath:
        """The critical path of every request."""
        return find(self.forest, self.path_options)

    @cached_property
    def classified(self) -> Classified:
        """Component, class, phases and retries of every span."""
        return classify(self.forest, self.config.rules, self.config.model_components)

    @cached_property
    def segments(self) -> tuple[Int32, Int64, Int64]:
        """Row, start and end (ns) of every stretch of the critical paths, by request and time."""
        return self.path.segments()

    @cached_property
    def attribution(self) -> Attribution:
        """Path time of every component and phase in every request."""
        return attribute(self.forest, self.path, self.classified)

    @cached_property
    def labels(self) -> Coded:
        """The "service operation" of each request's root."""
        names = self.forest.spans.text("name").take(self.forest.root)
        services = self.forest.spans.text("service").take(self.forest.root)
        width = len(names.words) + 1
        pairs, codes = np.unique((services.codes.astype(np.int64) + 1) * width + names.codes + 1, return_inverse=True)
        words = []
        for pair in pairs.tolist():
            service, name = divmod(pair, width)
            parts = [services.words[service - 1] if service else "", names.words[name - 1] if name else ""]
            words.append(" ".join(part for part in parts if part) or "(no name)")
        return Coded(codes.reshape(-1).astype(np.int32), words)

    @cached_property
    def chosen(self) -> Int64:
        """The requests that the statistics stand on, as indices into the forest's requests.

        Raises:
            InputError: If there are none; the message says which there would be.
        """
        forest = self.forest
        matching = self._matching()
        if self.filter.include_incomplete:
            keep = matching
        else:
            keep = matching & forest.complete
            if not keep.any():
                keep = matching
        if not keep.any():
            raise InputError(*self._why_none())
        return np.flatnonzero(keep)

    @property
    def only_incomplete(self) -> bool:
        """Whether incomplete requests are used because there are no complete ones."""
        return not self.filter.include_incomplete and not self.forest.complete[self.chosen].any()

    def _matching(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        forest, wanted = self.forest, self.filter
        keep = np.ones(len(forest.root), bool)
        start = forest.spans.array("start")[forest.root]
        if wanted.since is not None:
            keep &= start >= wanted.since
        if wanted.until is not None:
            keep &= start < wanted.until
        if wanted.root is not None:
            label = self.labels.lookup([fnmatchcase(word, wanted.root) for word in self.labels.words], False)
            names = forest.spans.text("name")
            name = names.lookup([fnmatchcase(word, wanted.root) for word in names.words], False)
            keep &= label.astype(bool) | name[forest.root].astype(bool)
        if wanted.service is not None:
            services = forest.spans.text("service")
            match = services.lookup([fnmatchcase(word, wanted.service) for word in services.words], False).astype(bool)
            keep &= np.bincount(forest.request[match], minlength=len(keep)) > 0
        return keep

    def _why_none(self) -> tuple[str, str]:
        if not len(self.forest.root):
            lost = ", ".join(f"{reason}: {count}" for reason, count in sorted(self.input.skipped.items()))
            return "there are no spans in the input", lost or "the files are traces, but empty ones"
        options = ("root", "service", "since", "until")
        given = " and ".join(f"--{option}" for option in options if getattr(self.filter, option) is not None)
        known = ", ".join(sorted(set(self.labels.words))[:5])
        start = self.forest.spans.array("start")[self.forest.root]
        times = " to ".join(_iso(int(moment)) for moment in (start.min(), start.max()))
        return f"no request matches {given}", f"requests start from {times}; there are, among others: {known}"

    @cached_property
    def model(self) -> ReplayModel:
        """The chosen requests, ready for replay."""
        from latshift.whatif.model import build_model

        return build_model(self.forest, self.path, self.classified, self.chosen, self.config.dependencies)

    def narrowed(self, **changes: object) -> TraceSet:
        """Return the same traces with another filter, for example `root="*POST /chat"`."""
        return replace(self, filter=replace(self.filter, **changes))  # type: ignore[arg-type]

    @cached_property
    def spans(self) -> polars.DataFrame:
        """All spans as a Polars frame: the canonical columns, with the stages' results.

        Times are int64 ns since the epoch; `own_ns` is the span's own time on the critical path; `request` is the
        index of its row in `requests`.
        """
        import polars

        from latshift.store import coded_series

        forest, table = self.forest, self.forest.spans
        columns: list[polars.Series] = []
        for name, column in table.columns.items():
            if isinstance(column, Coded):
                columns.append(coded_series(name, column))
            elif name not in ("span_id", "parent_id"):
                columns.append(polars.Series(name, column))
        ids = [table.id_text(number) for number in table.array("span_id").tolist()]
        above: Int32 = forest.parent
        columns[1:1] = [
            polars.Series("span_id", ids),
            polars.Series("parent_id", [ids[row] if row >= 0 else None for row in above.tolist()]),
        ]
        columns += [
            polars.Series("request", forest.request),
            coded_series("component", self.classified.component),
            coded_series("rule", self.classified.rule),
            polars.Series("own_ns", self.path.own),
        ]
        frame = polars.DataFrame(columns).rename({"trace": "trace_id", "start": "start_ns", "end": "end_ns"})
        return frame.filter(polars.Series(~forest.placeholder))

    @cached_property
    def requests(self) -> polars.DataFrame:
        """All requests as a Polars frame, one row each, with the path time of every component in ns."""
        import polars

        from latshift.store import coded_series

        forest = self.forest
        start, end = forest.spans.array("start")[forest.root], forest.spans.array("end")[forest.root]
        chosen = np.zeros(len(forest.root), bool)
        chosen[self.chosen] = True
        columns = [
            coded_series("trace_id", forest.spans.text("trace").take(forest.root)),
            polars.Series("root", [forest.spans.span_id_text(row) for row in forest.root.tolist()]),
            coded_series("label", self.labels),
            polars.Series("start_ns", start),
            polars.Series("duration_ns", end - start),
            polars.Series("complete", forest.complete),
            polars.Series("counted", chosen),
        ]
        for part, time in zip(self.attribution.parts, self.attribution.time.T, strict=True):
            columns.append(polars.Series(f"{part.phase or part.component}_ns", np.ascontiguousarray(time)))
        return polars.DataFrame(columns)


def _iso(moment: int) -> str:
    """Return a time in ns since the epoch as people write it, to the second."""
    seconds = np.datetime64(moment // 1_000_000_000, "s")
    return f"{seconds}Z"
