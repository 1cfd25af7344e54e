"""Drafts for Consolidated CDA, by the elements of HL7 version 3."""
