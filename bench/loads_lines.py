"""The yardstick: does nothing but parse every line of a JSON lines file with orjson."""

import sys

import orjson

# The yardstick may not pay for importing pathlib.
with open(sys.argv[1], "rb") as lines:  # noqa: PTH123
    for line in lines:
        orjson.loads(line)
