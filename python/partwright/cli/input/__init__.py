"""The commands' input: options, JSON, scripts, and shell completion."""
