"""The command line: `main` has the group of commands, the other modules the commands."""
