"""What `partwright run` does: read records, place them, write them, read them back, prove it."""
