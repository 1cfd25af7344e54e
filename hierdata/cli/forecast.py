"""What a release would keep, and what would help, for ``hierdata lint``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hierdata.cli.terminal import fold, say
from hierdata.ground.escaping import quote

if TYPE_CHECKING:
    from hierdata.pipeline.foresee import Forecast, ForeseenPlace

_MOST_PLACES = 4
"""Limit on the places that are printed."""
_MOST_HELPS = 2
"""Limit on the remedies of a place that are printed."""


def show_forecast(forecast: Forecast) -> None:
    """Print what a release would keep, and where little of it what would help most."""
    if forecast.failure is not None:
        say(*fold(f"What a release would keep cannot be foreseen: {forecast.failure}", "", "  "))
        return
    if forecast.refusal is not None:
        sure = forecast.searched == forecast.records
        would = "`hierdata anonymize` would refuse this" if sure else "`hierdata anonymize` may refuse this"
        say(*fold(f"Foreseen: {would}: {forecast.refusal}", "", "  "))
    how = f"by a search of {forecast.searched:,} of {forecast.records:,} records"
    say(f"Foreseen: {_percent(forecast.kept)} kept, {how}")
    for place in forecast.places[:_MOST_PLACES]:
        say(*fold(_describe(place), "  ", "  "))
        if place.helps:
            helps = (f"{_percent(one.kept)} with {one.text}" for one in place.helps[:_MOST_HELPS])
            say(*fold(f"kept {', '.join(helps)}", "    ", "  "))
    if len(forecast.places) > _MOST_PLACES:
        say(f"  {len(forecast.places) - _MOST_PLACES} more places of which little is kept: --json")


def _describe(place: ForeseenPlace) -> str:
    """Return what is kept at a place, and how many vertices records have there."""
    told = [f"{_percent(place.kept)} kept"]
    if place.published is not None:
        told.insert(0, f"{_percent(place.published)} published")
    if place.numbers is not None:
        told.append(f"{place.numbers.median} or fewer in half of the records, up to {place.numbers.most}")
    return f"{quote(place.path)}: {', '.join(told)}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"
