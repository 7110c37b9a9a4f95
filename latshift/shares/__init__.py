"""Numbers from path times: quantiles, shares at a percentile, and how sure they are.

1. `quantiles`: type-7 quantiles, and how many requests one needs.
2. `bands`: which requests stand for a percentile. 3. `table`: shares that add up, path times, tail excess.
4. `resamples`: the block bootstrap over time; `correlation`: how long its blocks must be.
5. `ranked`: exact figures of all resamples at once.
6. `intervals`: 95 % intervals from them. 7. `latency`: end-to-end latency with its intervals.

Requests always come in canonical order (start, then trace id), so that nothing depends on the order of the input.
"""

from __future__ import annotations

from latshift.shares.latency import describe
from latshift.shares.quantiles import PERCENTILES, quantiles, requests_needed
from latshift.shares.table import ShareTable, merge_parts, share_table, tail_excess

__all__ = [
    "PERCENTILES",
    "ShareTable",
    "describe",
    "merge_parts",
    "quantiles",
    "requests_needed",
    "share_table",
    "tail_excess",
]
