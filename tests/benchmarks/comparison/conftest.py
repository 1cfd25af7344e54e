"""The scripts that run in environments of other tools are not imported here."""

collect_ignore_glob = ["by_*.py"]
