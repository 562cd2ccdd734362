"""Harvests: all repositories above a star count, beyond the 1,000 results of one search.

``gqlnb.lists`` decides which windows to request, without I/O, and stores the rows; ``scope`` writes
their searches; ``requests`` sends them; ``harvests`` has the public functions. ``node_harvest`` is
the harvest of other types of nodes, as a configuration of :meth:`gqlnb.Client.harvest`.
"""
