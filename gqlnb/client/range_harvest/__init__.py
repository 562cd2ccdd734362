"""Harvests of lists beyond the cap of an endpoint, in ranges of a column."""
