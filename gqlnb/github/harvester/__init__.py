"""Harvests: all repositories above a star count, beyond the 1,000 results of one search.

``state_machine`` decides which searches to send, without I/O; ``runner`` sends them; ``harvests``
has the public functions.
"""
