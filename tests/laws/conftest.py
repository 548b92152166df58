from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis.internal.conjecture.providers import HypothesisProvider


@pytest.fixture(scope="package", autouse=True)
def _same_cases_in_every_process() -> Iterator[None]:
    """Stop Hypothesis from drawing constants of imported modules, which depend on the tests that ran before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HypothesisProvider, "_maybe_draw_constant", lambda *_, **__: None, raising=False)
        yield
