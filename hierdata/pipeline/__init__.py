"""A run over a collection, with one file per step; read ``anonymize`` first.

Steps log under ``hierdata``: stages at DEBUG, results at INFO, what a steward should look at as WARNING. Like
every message, a log has counts, paths of the policy and names of stages, and no value of a record.
"""

import logging

logging.getLogger("hierdata").addHandler(logging.NullHandler())
