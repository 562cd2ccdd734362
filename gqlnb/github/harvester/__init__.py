"""Harvests: everything above a threshold, past the 1,000 results of one search.

``sweep`` decides what to ask and what follows from the answers; it sends nothing.
"""
