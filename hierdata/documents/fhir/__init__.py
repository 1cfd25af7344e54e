"""FHIR R4: what its elements are, and published records in their types."""
