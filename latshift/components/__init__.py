"""From spans to components: what every span is for, whose time it is, and what is known about its inside.

1. `classify` decides every span by itself: the person's rules, then the conventions, then names (`tables`, `engines`,
   `hosts`, `names` hold the facts; `board` the verdicts).
2. `inherit` gives spans that merely carry a call to the call they carry.
3. `phases` cuts model calls into queue, prefill and decode, as far as there is `evidence`.
4. `retries` finds attempts beyond the first.
"""

from __future__ import annotations

from latshift.components.classified import Classified, classify
from latshift.components.phases import Phases
from latshift.components.retries import Retries
from latshift.components.rules import Rule
from latshift.components.tables import CLASSES, COMPONENTS, MODEL_COMPONENTS

__all__ = ["CLASSES", "COMPONENTS", "MODEL_COMPONENTS", "Classified", "Phases", "Retries", "Rule", "classify"]
