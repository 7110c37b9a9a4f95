"""95 % intervals from resamples.

The ends are the 2.5 % and 97.5 % points of the resampled figures, then stretched about their median by

    √(b/(b − 1)) · t(1 − α/2; b − 1) / z(0.975)

with b blocks: Hesterberg's expanded percentile interval. Few blocks vary too little among themselves, and the points
beyond 2.5 %, which several checks at once need, are too rare in 400 resamples to be read off.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from latshift.spans import Float64

LEVEL = 0.95
_READ_OFF = (0.025, 0.975)


@cache
def stretch(blocks: int, level: float = LEVEL) -> float:
    """Return the factor by which the ends are moved out.

    Args:
        blocks: Independent blocks in a resample.
        level: Wanted coverage.
    """
    free = max(blocks - 1, 4)
    normal = NormalDist()
    z = normal.inv_cdf(0.5 + level / 2)
    # Cornish-Fisher expansion of Student's t (Abramowitz and Stegun 26.7.5): within 1 % from 4 degrees of freedom on.
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    return math.sqrt((free + 1) / free) * t / normal.inv_cdf(_READ_OFF[1])


def interval(resampled: Float64, point: float, blocks: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of a figure.

    Args:
        resampled: float64 (resamples,), the figure in every resample.
        point: The figure in the data.
        blocks: Independent blocks in a resample.
        level: Wanted coverage.

    Returns:
        Lower and upper end, in the unit of the figure; the point lies within. (nan, nan) if it cannot be computed.
    """
    if not math.isfinite(point) or not np.isfinite(resampled).all():
        return math.nan, math.nan
    low, middle, high = np.quantile(resampled, (_READ_OFF[0], 0.5, _READ_OFF[1]))
    factor = stretch(blocks, level)
    return min(point, float(middle + (low - middle) * factor)), max(point, float(middle + (high - middle) * factor))
