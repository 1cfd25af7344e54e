"""Which members of other distributions a policy uses."""

from __future__ import annotations

from hierdata.documents.formats import FORMATS
from hierdata.engines import ENGINES
from hierdata.ground.plugins import Plugin, find
from hierdata.ground.recodings import is_built_in
from hierdata.policy.policy import Policy
from hierdata.privacy import MODELS


def list_plugins(policy: Policy) -> tuple[Plugin, ...]:
    """Return the members of other distributions that a policy names, each once."""
    domains = [rule.other for rule in policy.fields.values() if rule.other is not None]
    named = [
        *(("models", model.kind) for model in policy.models if model.kind not in MODELS),
        *(("engines", step.kind) for step in policy.steps if step.kind not in ENGINES),
        *(("domains", getattr(domain, "kind", "")) for domain in domains),
        *(("metrics", name) for name in policy.metrics),
        *(("metrics", gate.metric) for gate in policy.gates if not gate.is_built_in),
        *(("formats", name) for name in (policy.format,) if name is not None and name not in FORMATS),
        *(("recodings", name) for name in (policy.recoding,) if not is_built_in(name)),
    ]
    found = (find(family, name) for family, name in dict.fromkeys(named))
    return tuple(plugin for plugin in found if plugin is not None)
