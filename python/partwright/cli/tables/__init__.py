"""The commands' output on stdout: one module per command, using the tables of `console`."""
