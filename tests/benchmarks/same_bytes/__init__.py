"""Whether two builds of hierdata make the same releases, byte for byte; see ``__main__``."""
