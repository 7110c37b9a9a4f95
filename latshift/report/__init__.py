"""Results -> text: one module per view. Nothing is computed here; what a view shows is in the result.

A terminal view is a function `(result, screen) -> str`; `Screen` says how wide, in which colours, with which
characters. Names come from traces, so every one of them passes through `escape` before it is shown.
"""
