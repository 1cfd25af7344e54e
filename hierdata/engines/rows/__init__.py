"""Classes of rows: shared code of the engines that partition one vertex type.

These engines build an array ``classes``: for each row of the scope the number of its class, from 0 without
gaps, or SUPPRESSED.
"""
