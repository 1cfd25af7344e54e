"""Anonymize the Adult table with anjana, as its documentation shows; runs in an environment that has anjana.

Arguments: the table, the folder of hierarchies, the output, and the setting as JSON: ``quasi``,
``sensitive``, ``k``, ``suppression`` (percent) and ``l`` or ``t`` or neither.
"""

import json
import sys

import pandas as pd
from anjana.anonymity import k_anonymity, l_diversity, t_closeness

table, folder, out, text = sys.argv[1:]
setting = json.loads(text)
quasi, sensitive, k, limit = (setting[name] for name in ("quasi", "sensitive", "k", "suppression"))
frame = pd.read_csv(table, sep=";", dtype=str, keep_default_na=False)
hierarchies = {}
for name in quasi:
    lines = pd.read_csv(
        f"{folder}/adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str, keep_default_na=False
    )
    hierarchies[name] = dict(lines)
if "l" in setting:
    found = l_diversity(frame, [], quasi, sensitive, k, setting["l"], limit, hierarchies)
elif "t" in setting:
    found = t_closeness(frame, [], quasi, sensitive, k, setting["t"], limit, hierarchies)
else:
    found = k_anonymity(frame, [], quasi, k, limit, hierarchies)
found.to_csv(out, sep=";", index=False)
