"""The command line: one module per command, each parses, calls `latshift.api`, renders; no logic.

`main.py` is the only place that turns errors into exit codes: 0 ok, 1 gate failed, 2 usage, configuration or
unreadable input, 3 inconclusive, 101 internal error, 130 interrupted. Nothing heavy is imported before a command runs.
"""
