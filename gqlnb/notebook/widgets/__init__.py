"""Widgets: each one anywidget with one comm, and a static fallback without a kernel."""
