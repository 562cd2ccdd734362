"""Compilation of operations: plans, generated Python source, and their executor."""
