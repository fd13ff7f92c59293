"""What the commands print on stdout: one module a command, over the tables of `console`."""
