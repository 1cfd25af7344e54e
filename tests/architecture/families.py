"""The families: folders whose members are named by one dict, and what else may lie in the folder, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from hierdata.documents.formats import Format
from hierdata.domains.base import QuasiDomain
from hierdata.executors import Executor
from hierdata.metrics import Metric
from hierdata.privacy import PrivacyModel
from hierdata.records.identifiers import Action
from hierdata.records.shape import ShapeStep
from hierdata.release.recodings import Recoding
from hierdata.sources.stores import Store

PACKAGE = Path(__file__).parents[2] / "hierdata"


@dataclass(frozen=True)
class Family:
    """``kind`` is the members' base class; None where members are functions."""

    registry: str
    kind: type | None
    helpers: Mapping[str, str]

    def members(self, folder: str) -> dict[str, Any]:
        """The registry."""
        registry: dict[str, Any] = getattr(
            import_module(f"hierdata.{folder.replace('/', '.')}"), self.registry
        )
        return registry


FAMILIES = {
    "documents/formats": Family(
        "FORMATS",
        Format,
        {
            "bson_codec": "one BSON document, by the library, or element by element for what that would lose",
            "bson_values": "values as the library has them",
            "decoder": "JSON text to values, for all JSON formats",
            "csv_dialect": "how a CSV file is written, found for drafts",
            "encodings": "text in other encodings, and zip files, as bytes of UTF-8",
            "arrow_tables": "tables in memory: Arrow tables and DataFrames, out and in",
            "nested_columns": "columns of lists and structs, for Parquet and tables in memory",
            "json_reading": "arrays and lines of JSON, for all formats that have them",
            "kinds": "types of Python that published values had in the input",
            "objects": "Python objects as documents, and values to JSON text",
            "source": "bytes in and out, packed or not, for every format",
            "xmltree": "the parser's settings and elements as documents, loaded only where XML is read",
            "xmltext": "the writer's escaping, loaded only where XML is written",
        },
    ),
    "domains": Family(
        "DOMAINS",
        QuasiDomain,
        {
            "derived": "labels that follow from what is published of a code, for writer and judge",
            "bins": "bins on a line, for numbers and dates, and bins of counts",
            "taxonomy_files": "trees of labels as files have them, for taxonomies",
            "date_formats": "how dates are written, for the domain, shifts and drafts",
            "bounds": "limits of what a policy states, for every part of it",
            "levels": "sensitivity levels as the policy states them: no quasi-identifier's domain",
            "membership": "the fuzzy sets behind levels",
            "number": "exact numbers, for every domain",
            "scales": "value to level, once compiled",
            "publish": "what a policy says of the published form of sensitive values",
            "sensitive_forms": "the forms in which sensitive values are published",
            "sensitive": "the domain of a sensitive attribute, and which of its texts are one value",
            "proximity": "numbers near each other, for models and steps",
            "published": "published labels and what they lose, for every domain",
            "semantic_partition": "values in semantic domains: no quasi-identifier's domain",
            "similarity": "semantic distance in taxonomies",
        },
    ),
    "records/identifiers": Family(
        "ACTIONS",
        Action,
        {
            "substitute": "pseudonyms of the form of their values: a keyed permutation",
            "treatment": "all actions of a policy, and its maps, done to documents",
        },
    ),
    "records/shape": Family(
        "STEPS",
        ShapeStep,
        {
            "individuals": "several documents of one individual as one",
            "places": "lists and fields in a document, as a policy names them, and digests of values",
            "tables": "the tables that hold shaped records",
        },
    ),
    "privacy": Family(
        "MODELS",
        PrivacyModel,
        {
            "counting": "constraints on numbers of records and values, which several models bind",
            "earth_mover": "distances of two distributions, for t-closeness",
            "grouping": "what a model counts: values, or groups of them",
            "presence": "the second reading of the models that bound shares of groups",
            "population": "who in a population table fits a record",
            "reference": "comparing with the original: its counts, exact thresholds",
        },
    ),
    "sources/stores": Family(
        "STORES",
        Store,
        {
            "mongodb_reading": "one pass over a collection",
            "mongodb_database": "a database of MongoDB, whose collections are keyed tables",
            "mongodb_server": "how MongoDB is found and asked, and what its refusals mean",
            "mongodb_target": "a collection in the making, and its validator",
            "postgresql_reading": "one pass over rows, in one snapshot",
            "postgresql_server": "how PostgreSQL is found and asked, and what its refusals mean",
            "postgresql_target": "new tables in one transaction",
            "postgresql_types": "types of published columns",
        },
    ),
    "release/recodings": Family(
        "RECODINGS",
        Recoding,
        {
            "correlation": "which sensitive attributes go together, for slicing",
        },
    ),
    "metrics": Family(
        "METRICS",
        Metric,
        {
            "attacked": "the metrics that attacks on published files measure, not parts of a release",
            "cells": "counts of cells that lie in several parts of a release",
            "joint_counts": "how values and published keys occur together, for every rate",
            "numbering": "what is known of vertices, in numbers that mean the same in every part",
            "rates": "entropies and rates of counts, for a metric and for tables",
            "tallies": "what the parts of a release add up to",
        },
    ),
    "executors": Family(
        "EXECUTORS",
        Executor,
        {
            "application": "a Spark application of our own",
            "local": "what the executors of one machine share",
            "partitions": "what runs in Spark's workers",
            "spill": "values in private files",
            "worker": "what a worker process runs",
        },
    ),
    "synth": Family(
        "GENERATORS",
        None,
        {
            "bundled": "writes fixtures/ anew",
            "vocabulary": "courses, grades, instructors and books, and reproducible random choices",
            "write": "a collection to files, with policies and taxonomies",
        },
    ),
}
