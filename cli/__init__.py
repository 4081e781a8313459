"""The command line: a thin skin over journal and projections, and the only place that prints."""
