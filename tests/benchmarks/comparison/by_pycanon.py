"""k, l and t of a published table by pycanon; ``python FILE SENSITIVE OUT``, where pycanon is installed."""

import json
import sys

import pandas as pd
from pycanon import anonymity

frame = pd.read_csv(sys.argv[1], sep=";", dtype=str, keep_default_na=False)
sensitive = sys.argv[2]
quasi = [name for name in frame.columns if name != sensitive]
found = {
    "k": anonymity.k_anonymity(frame, quasi),
    "l": anonymity.l_diversity(frame, quasi, [sensitive]),
    "t": anonymity.t_closeness(frame, quasi, [sensitive]),
}
with open(sys.argv[3], "w", encoding="utf-8") as stream:  # noqa: PTH123
    json.dump({name: float(value) for name, value in found.items()}, stream)
