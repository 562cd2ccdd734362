"""Completion and documentation of GraphQL texts and magic lines."""
