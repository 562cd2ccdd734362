"""Results: from a response to columns, DataFrames, HTML and files."""
