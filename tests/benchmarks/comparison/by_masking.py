"""Mask only: drop the direct identifier of each student and shuffle the records; ``python FILE IN OUT``."""

import json
import random
import sys
from pathlib import Path

lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
records = [json.loads(line) for line in lines]
for record in records:
    del record["id"]
random.shuffle(records)
Path(sys.argv[2]).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
