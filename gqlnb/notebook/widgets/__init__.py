"""Widgets: each one anywidget with one comm, and a plain synchronous twin."""
