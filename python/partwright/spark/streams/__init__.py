"""Streams into a topic: each micro-batch is placed, laid out, and written so that running it again adds nothing."""
