"""Classes of rows: what every engine that partitions one vertex type shares.

A partition in the making is an array ``classes``: for each row of the scope the number of its class, from 0
without gaps, or SUPPRESSED.
"""
