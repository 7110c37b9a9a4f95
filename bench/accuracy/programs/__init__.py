"""The programs: ordinary asyncio code that knows nothing of latshift. `PROGRAMS` lists them all."""

from __future__ import annotations

from bench.accuracy.programs import agents, beside, fanout, models, pools, rag, retries, services
from bench.accuracy.world import Program

PROGRAMS: tuple[Program, ...] = (
    *rag.PROGRAMS, *services.PROGRAMS, *fanout.PROGRAMS, *agents.PROGRAMS, *beside.PROGRAMS, *models.PROGRAMS,
    *retries.PROGRAMS, *pools.PROGRAMS,
)  # fmt: skip
