"""The page of a comparison, its fragment for notebooks, and its figures as JSON. Nothing is computed here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from fractions import Fraction
from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from hierdata.comparison.rows import ComparedPolicy, PromiseCost
from hierdata.ground.escaping import escape
from hierdata.ground.version import __version__
from hierdata.release.charts import STYLE as CHART_STYLE
from hierdata.release.charts.plots import Dot, ScatterChart
from hierdata.release.report.names import FIGURES, METRICS, Names
from hierdata.release.report.page import read_styled

Policies = Sequence[ComparedPolicy]
_STYLE = """
figcaption { color: var(--quiet); }
pre { overflow-x: auto; line-height: 1.35; }
@media print {
  pre { white-space: pre-wrap; overflow: visible; }
  details > summary { display: list-item; }
  details:not([open])::details-content { content-visibility: hidden; }
}
"""


def write_page(policies: Policies, costs: Sequence[PromiseCost]) -> str:
    """Return the page: one file without scripts, which asks for nothing from outside."""
    return _render("comparison.html", policies, costs)


def write_fragment(policies: Policies) -> str:
    """Return the first picture and the table, for a notebook."""
    return _render("fragment.html", policies, ())


def write_json(policies: Policies, costs: Sequence[PromiseCost]) -> str:
    """Return the rows, the policies and the costs of promises as JSON; costs are exact, such as "1/3"."""
    data = {
        "version": __version__,
        "policies": [{**policy.as_row(), "policy": dict(policy.policy)} for policy in policies],
        "costs": [
            {
                "model": cost.model,
                "kept": str(cost.kept),
                "published": cost.published,
                "worst_guess": {path: str(share) for path, share in cost.worst_guess.items()},
            }
            for cost in costs
        ],
    }
    return json.dumps(data, indent=1, allow_nan=False)


def _render(template: str, policies: Policies, costs: Sequence[PromiseCost]) -> str:
    names = _names(policies)
    page = _environment().get_template(template)
    return page.render(
        found=policies,
        costs=costs,
        charts=list(_charts(policies, names)),
        paths=_paths(policies),
        name_of=lambda path: break_path(names.show(path)),
        risks=list_risks(policies),
        version=__version__,
        day=date.today().isoformat(),
    )


def _names(policies: Policies) -> Names:
    """Return the names of fields: the labels of the first policy, from which the others are made."""
    fields = policies[0].policy["fields"] if policies else {}
    return Names({path: rule["label"] for path, rule in fields.items() if rule.get("label")})


def _charts(policies: Policies, names: Names) -> Iterator[tuple[str, Markup]]:
    """Yield the charts with their titles: all fields together, then each sensitive field."""
    yield "All sensitive fields: the largest worst guess", _chart(policies, None, "", 0)
    for number, path in enumerate(_paths(policies), 1):
        name = names.show(path)
        yield name, _chart(policies, path, f" at {name}", number)


def _paths(policies: Policies) -> list[str]:
    return list(dict.fromkeys(path for policy in policies for path in policy.worst_guess))


def list_risks(policies: Policies) -> list[str]:
    """Return the risks that were measured for some policy, by metric and figure."""
    return list(dict.fromkeys(risk for policy in policies for risk in policy.risks))


def name_risk(risk: str) -> str:
    """Return what people call a risk.

    >>> name_risk("singling_out.quasi_identifiers"), name_risk("linkability.worst")
    ('singling-out risk by quasi-identifiers', 'linkability risk')
    """
    metric, _, figure = risk.partition(".")
    return METRICS[metric] + ("" if figure == "worst" else f" {FIGURES[figure]}")


def _chart(policies: Policies, path: str | None, where: str, number: int) -> Markup:
    dots = _dots(policies, path)
    words = "; ".join(f"{dot.label} keeps {dot.y:.1f} % at {dot.x:.1f} %" for dot in dots)
    chart = ScatterChart(
        f"Kept against worst guess{where}",
        "Higher and further left is better. " + (f"By policy: {words}." if words else "There is no release."),
        "worst guess, % of a class",
        "kept of the input, %",
        dots,
        "not dominated",
        "dominated: another is at least as good in everything",
    )
    return Markup(chart.svg(f"chart-{number}"))  # noqa: S704  # it escapes its texts itself


def _dots(policies: Policies, path: str | None) -> tuple[Dot, ...]:
    """Return the dots; policies at one place share a dot, filled if one of them is not dominated."""
    places: dict[tuple[Fraction, Fraction], list[ComparedPolicy]] = {}
    for policy in policies:
        worst = policy.worst if path is None else policy.worst_guess.get(path, Fraction(0))
        if policy.kept is not None and worst is not None:
            places.setdefault((worst, policy.kept), []).append(policy)
    return tuple(
        Dot(
            float(100 * worst),
            float(100 * kept),
            shorten([policy.number for policy in alike]),
            any(not policy.dominated_by for policy in alike),
        )
        for (worst, kept), alike in places.items()
    )


def shorten(numbers: list[int]) -> str:
    """Return rising numbers as text, short enough for a picture.

    >>> shorten([1]), shorten([2, 3]), shorten([2, 3, 5, 8])
    ('1', '2, 3', '2, 3 +2')
    """
    shown = ", ".join(map(str, numbers[:2]))
    return shown if len(numbers) <= 2 else f"{shown} +{len(numbers) - 2}"


def percent(share: Fraction | float | None) -> str:
    """Return a share for a table.

    >>> percent(Fraction(1, 3)), percent(None)
    ('33.3 %', '-')
    """
    return "-" if share is None else f"{100 * float(share):.1f} %"


def write_difference(share: Fraction) -> str:
    """Return a difference of shares in percentage points.

    >>> write_difference(Fraction(-1, 8))
    '-12.5'
    """
    return f"{float(100 * share):+.1f}"


def numbers(policy: ComparedPolicy) -> str:
    """Return the numbers of the policies that dominate one."""
    return ", ".join(map(str, policy.dominated_by)) or "none"


def break_path(path: str) -> Markup:
    """Return a path that a heading may break before each of its fields.

    >>> break_path("$.a.b<")
    Markup('$<wbr>.a<wbr>.b&lt;')
    """
    return Markup("<wbr>.").join(map(escape, path.split(".")))


def write_policy(policy: ComparedPolicy) -> str:
    """Return the policy as JSON; its files are relative to the folder of the stated policy."""
    return json.dumps(dict(policy.policy), indent=1, ensure_ascii=False)


@cache
def _environment() -> Environment:
    return read_styled(
        "hierdata.comparison",
        _STYLE,
        chart_style=Markup(CHART_STYLE),  # noqa: S704  # our own constant
        percent=percent,
        name_risk=name_risk,
        signed=write_difference,
        numbers=numbers,
        write_lines=lambda policy: write_policy(policy).splitlines(),
    )
