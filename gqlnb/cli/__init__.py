"""The command line: `main` is the entry point, `command_group` the group of commands."""
