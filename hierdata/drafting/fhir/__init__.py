"""Drafts of policies for FHIR R4, from what its specification says of each element."""
