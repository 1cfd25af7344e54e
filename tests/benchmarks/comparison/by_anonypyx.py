"""Anonymize the Adult table with anonypyx's Mondrian; runs in an environment that has anonypyx.

Arguments: the table, the folder of hierarchies (not used: it has none), the output, and the setting as JSON:
``quasi``, ``sensitive``, ``k`` and ``l`` or ``t`` or neither. Ages are numbers, so they are published as
ranges; for t they are categories, since its earth mover's distance asks for them.
"""

import json
import sys

import anonypyx
import pandas as pd

table, _, out, text = sys.argv[1:]
setting = json.loads(text)
frame = pd.read_csv(table, sep=";", dtype=str, keep_default_na=False)
for name in frame.columns:
    numeric = name == "age" and "t" not in setting
    frame[name] = frame[name].astype("int64" if numeric else "category")
models = {name: setting[name] for name in ("k", "l", "t") if name in setting}
if "t" in setting:
    models["closeness_metric"] = "earth mover's distance"
found = anonypyx.Anonymiser(
    frame,
    algorithm="Mondrian",
    feature_columns=setting["quasi"],
    sensitive_column=setting["sensitive"],
    generalisation_strategy="human-readable",
    **models,
).anonymise()
found = found.loc[found.index.repeat(found.pop("count"))]  # one line for each row, as every other tool has it
found.sample(frac=1, random_state=1).to_csv(out, sep=";", index=False)
