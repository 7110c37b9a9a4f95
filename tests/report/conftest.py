"""Makes the hand-made results of examples.py available to the tests here."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def examples() -> ModuleType:
    """The module examples.py."""
    spec = spec_from_file_location("report_examples", Path(__file__).with_name("examples.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
