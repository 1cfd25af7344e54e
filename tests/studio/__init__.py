"""The studio: its guard, its studies, its pages, in a real browser too."""
