"""Documents to records and back: paths, the survey of a collection, the binding to a schema."""
