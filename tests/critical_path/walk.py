"""The walk of semantics.md §2 written plainly, one span at a time, to compare the kernel with."""

from __future__ import annotations

from latshift.spans import CONSUMER, PRODUCER, Forest

Segment = tuple[int, int, int]


def walk(forest: Forest, tolerance_ns: int = 1_000, tolerance_share: float = 1e-4) -> list[Segment]:
    """Return (row, start, end) of all own segments, by request, then time."""
    segments: list[Segment] = []
    for root in forest.root.tolist():
        segments += sorted(_Walk(forest, tolerance_ns, tolerance_share).request(root), key=lambda item: item[1])
    return segments


class _Walk:
    def __init__(self, forest: Forest, tolerance_ns: int, tolerance_share: float) -> None:
        self.kind = forest.spans.array("kind").tolist()
        self.raw_start, self.raw_end = forest.spans.array("start").tolist(), forest.spans.array("end").tolist()
        self.rank = forest.rank.tolist()
        self.children: dict[int, list[int]] = {}
        for row, parent in enumerate(forest.parent.tolist()):
            self.children.setdefault(parent, []).append(row)
        self.tolerance = (tolerance_ns, tolerance_share)

    def request(self, root: int) -> list[Segment]:
        segments: list[Segment] = []
        todo = [(root, self.raw_start[root], self.raw_end[root], self.raw_end[root])]
        while todo:
            row, start, end, until = todo.pop()
            waited = self.chain(row, start, end)
            now = until
            for child, child_start, child_end, gives_way in waited:  # from the last to the first
                child_until = min(gives_way, until)
                if child_start >= until:
                    continue
                segments.append((row, child_until, now))
                todo.append((child, child_start, child_end, child_until))
                now = child_start
            segments.append((row, start, now))
        return [item for item in segments if item[2] > item[1]]

    def chain(self, row: int, start: int, end: int) -> list[tuple[int, int, int, int]]:
        """Return (child, start, end, when it gives way to the next) of the children waited for, last first."""
        kept = {}
        for child in self.children.get(row, []):
            pair = max(start, self.raw_start[child]), min(end, self.raw_end[child])
            if pair[1] > pair[0] and not (self.kind[row] == PRODUCER and self.kind[child] == CONSUMER):
                kept[child] = pair
        tolerance = min(self.tolerance[0], int((end - start) * self.tolerance[1]))
        order = sorted(kept, key=lambda c: (-kept[c][1], self.raw_start[c], self.rank[c], c))
        found: list[tuple[int, int, int, int]] = []
        current = order[0] if order else None
        until = end
        while current is not None:
            begin = kept[current][0]
            found.append((current, *kept[current], min(until, kept[current][1])))
            until = begin
            later = order[order.index(current) + 1 :]
            near = [c for c in later if kept[c][1] <= begin + tolerance][:1]
            strict = [c for c in later if kept[c][1] <= begin][:1]
            current = next((c for c in near + strict if kept[c][0] < begin), None)
        return found
