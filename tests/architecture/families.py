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
            "bson_codec": "one BSON document, by the library",
            "bson_elements": "one BSON document, element by element, for what the library would lose",
            "bson_values": "values as the library has them",
            "decoder": "JSON text to values, for all JSON formats",
            "extended_values": "the wrappers of Extended JSON",
            "arrow_tables": "documents in memory as Arrow tables and DataFrames",
            "frames": "tables in memory as Arrow tables",
            "kinds": "types of Python that published values had in the input",
            "lines": "JSON one record a line, for both formats that have it so",
            "objects": "Python objects as documents, and values to JSON text",
            "source": "bytes in and out, packed or not, for every format",
            "window": "arrays of JSON, for both formats that have them",
            "xmlparser": "the parser's settings, loaded only where XML is read",
            "xmltree": "elements as documents",
            "csv_cells": "cells as text, and what spreadsheets must not read as a formula",
            "python_values": "values of Python, numpy and pandas that JSON does not have",
            "xmltext": "the writer's escaping, loaded only where XML is written",
        },
    ),
    "domains": Family(
        "DOMAINS",
        QuasiDomain,
        {
            "bins": "bins on a line, for numbers and dates",
            "bounds": "limits of what a policy states, for every part of it",
            "levels": "sensitivity levels as the policy states them: no quasi-identifier's domain",
            "membership": "the fuzzy sets behind levels",
            "number": "exact numbers, for every domain",
            "scales": "value to level, once compiled",
            "sensitive": "the domain of a sensitive attribute",
            "sameness": "texts that are one value, for sensitive attributes",
            "proximity": "numbers near each other, for models and steps",
            "count_bins": "bins of counts of vertices, for shape and judge",
            "published": "published labels and what they lose, for every domain",
            "semantic_partition": "values in semantic domains: no quasi-identifier's domain",
            "similarity": "semantic distance in taxonomies",
            "tree": "taxonomy files and nested trees",
        },
    ),
    "records/identifiers": Family(
        "ACTIONS",
        Action,
        {
            "key": "the secret of pseudonyms and moved dates",
            "treatment": "all actions of a policy, and its maps, done to documents",
        },
    ),
    "records/shape": Family(
        "STEPS",
        ShapeStep,
        {
            "digests": "values by their content, for steps that compare items",
            "individuals": "several documents of one individual as one",
            "places": "lists and fields in a document, as a policy names them",
            "shaping": "all steps of a policy, done to documents",
            "tables": "the tables that hold shaped records",
        },
    ),
    "privacy": Family(
        "MODELS",
        PrivacyModel,
        {
            "earth_mover": "distances of two distributions, for t-closeness",
            "grouping": "what a model counts: values, or groups of them",
            "neighbourhood": "one predicate under two names: (delta,l) and (epsilon,m)",
            "presence": "the second reading of the models that bound shares of groups",
            "population": "who in a population table fits a record",
            "reference": "comparing with the original: its counts, exact thresholds, likeness",
            "wording": "numbers and achieved parameters in words",
        },
    ),
    "sources/stores": Family(
        "STORES",
        Store,
        {
            "mongodb_reading": "one pass over a collection",
            "mongodb_server": "how MongoDB is found and asked, and what its refusals mean",
            "mongodb_target": "a collection in the making",
            "mongodb_validator": "the validator of what was published",
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
            "groups": "sensitive values apart by group, for anatomy and slicing",
        },
    ),
    "metrics": Family(
        "METRICS",
        Metric,
        {
            "cells": "counts of cells that lie in several parts of a release",
            "columns": "what each vertex has of a sensitive attribute, and where it lies",
            "joint_counts": "how values and published keys occur together, for every rate",
            "numbering": "what is known of vertices, in numbers that mean the same in every part",
            "rates": "entropies and rates of counts, for a metric and for tables",
            "risk": "what somebody who knows keys learns, for every risk",
            "skew": "how far the odds of a key are from those of the original",
            "sums": "what is counted of parts and added up",
            "tallies": "what the parts of a release add up to",
        },
    ),
    "executors": Family(
        "EXECUTORS",
        Executor,
        {
            "application": "a Spark application of our own",
            "failures": "exceptions on their way to the caller",
            "local": "what the executors of one machine share",
            "points": "measured points kept as files, for studies that take long",
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
            "draws": "reproducible random choices",
            "companions": "policies and taxonomies for the records",
            "outpatients": "the second bundled collection; its vocabulary is fixed, so no command offers it",
            "vocabulary": "courses, grades, instructors and books",
            "write": "a collection to files",
        },
    ),
}
