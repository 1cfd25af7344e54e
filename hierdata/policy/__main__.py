"""``python -m hierdata.policy > schemas/policy.schema.json`` regenerates the policy's JSON Schema."""

from __future__ import annotations

import sys

from hierdata.policy.schema import text

if __name__ == "__main__":
    sys.stdout.write(text())
