"""The collector is held off while something grows, and is afterwards as it was."""

from __future__ import annotations

import gc

import pytest

from windtunnel.dsl.collecting import uncollected


@uncollected
def asked(fail: bool = False) -> bool:
    """Whether the collector works meanwhile."""
    if fail:
        raise KeyError("planted")
    return gc.isenabled()


def test_the_collector_waits_and_goes_on() -> None:
    """It is off inside, and on again afterwards, also after an exception."""
    assert gc.isenabled()
    assert not asked()
    assert gc.isenabled()
    with pytest.raises(KeyError):
        asked(fail=True)
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    """Whoever has switched it off wants it so."""
    gc.disable()
    try:
        assert not asked()
        assert not gc.isenabled()
    finally:
        gc.enable()
