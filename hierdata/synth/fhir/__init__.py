"""Synthetic FHIR R4 records with shares like those of Synthea's output; no real people."""

from hierdata.synth.fhir.write import FORMS, write_fhir

__all__ = ["FORMS", "write_fhir"]
