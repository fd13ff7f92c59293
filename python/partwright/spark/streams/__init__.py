"""Streams into a topic: each micro-batch placed, laid out, and written so that a batch that runs again adds nothing."""
