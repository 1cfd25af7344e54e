"""hierdata beside other tools, measured and as a page."""
