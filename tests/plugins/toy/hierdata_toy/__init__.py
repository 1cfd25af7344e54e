"""One member of each family of hierdata: model, engine, recoding, domain, metric and format."""
