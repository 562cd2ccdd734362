"""Lists that are longer than an endpoint returns: windows, their plan, evidence, report and store.

``window_harvest`` and ``list_harvest`` do no I/O: they say what to request, and are given the
answers. ``store`` keeps the rows of every harvest, in memory or in a folder.
"""
