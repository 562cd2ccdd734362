"""The command line: a module for each group of commands, and ``entry``, which reads arguments."""
