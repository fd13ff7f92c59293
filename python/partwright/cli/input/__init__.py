"""What the commands read: options, JSON, scripts, and what a shell completes."""
