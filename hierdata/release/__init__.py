"""The contents of a release folder, and the release itself."""
