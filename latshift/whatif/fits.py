"""A straight line through points, not led astray by a few bad ones."""

from __future__ import annotations

import numpy as np

from latshift.spans import Float64

_HUBER = 1.345
"""Residuals beyond this many standard deviations count less (95 % efficiency for normal errors; Huber 1964)."""

_SIGMA_PER_MAD = 1.4826
_ROUNDS = 30


def robust_line(x: Float64, y: Float64, size: Float64 | None = None) -> tuple[float, float]:
    """Fit y = a + b·x.

    The start is Conover's incomplete form of the Theil-Sen slope: the median slope between each point of the lower half
    (by x) and its partner in the upper half. Reweighted least squares with Huber's weights refine it.

    Args:
        x: float64 (n,), n > 1, not all alike.
        y: float64 (n,).
        size: float64 (n,), how far each point scatters in proportion to the others; None for all alike.

    Returns:
        a and b.
    """
    order = np.argsort(x, kind="stable")
    half = len(x) // 2
    low, high = order[:half], order[len(x) - half :]
    apart = x[high] > x[low]
    b = float(np.median((y[high] - y[low])[apart] / (x[high] - x[low])[apart]))
    a = float(np.median(y - b * x))
    size = np.ones(len(x)) if size is None else size
    for _ in range(_ROUNDS):
        residual = np.abs(y - a - b * x) / size
        sigma = _SIGMA_PER_MAD * float(np.median(residual))
        if sigma == 0:
            break
        weight = np.minimum(1.0, _HUBER * sigma / np.maximum(residual, 1e-300)) / size**2
        middle_x, middle_y = np.average(x, weights=weight), np.average(y, weights=weight)
        slope = np.sum(weight * (x - middle_x) * (y - middle_y)) / np.sum(weight * (x - middle_x) ** 2)
        before, b = b, float(slope)
        a = float(middle_y - b * middle_x)
        if abs(b - before) <= 1e-9 * abs(b):
            break
    return a, b
