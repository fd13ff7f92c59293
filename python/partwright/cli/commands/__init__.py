"""One module per command; `partwright NAME` imports `partwright.cli.commands.NAME` when it is called."""
