"""The gate for CI: is this run worse than the baseline, or over a budget?

1. `sample`: a run as a table of requests; `baseline` keeps it in a file; `runs` makes it from traces.
2. `metrics`: the names of what can be looked at; `budgets`: what they are held to.
3. `compare`: the same groups, the same mix, the same requests where possible.
4. `figures`: the value of a metric, and in every resample; `verdicts`: what that means; `explain`: why.
5. `check`: all of it, and the verdict over all.
"""

from __future__ import annotations

from latshift.gate.baseline import is_sample_file, load_sample, save_sample
from latshift.gate.budgets import Budget
from latshift.gate.check import check
from latshift.gate.runs import gate, sample_of
from latshift.gate.sample import Sample

__all__ = ["Budget", "Sample", "check", "gate", "is_sample_file", "load_sample", "sample_of", "save_sample"]
