"""The adversary of the threat model, run against a release: who can be found, and what can be guessed."""

from __future__ import annotations
