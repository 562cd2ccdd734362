"""Lists that are longer than an endpoint returns: windows, their plan, evidence, and the report.

Nothing here does I/O: `window_harvest` says what to request, and is given the answers.
"""
