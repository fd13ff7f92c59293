"""One module a command; `partwright NAME` imports `partwright.cli.commands.NAME` when it is called."""
