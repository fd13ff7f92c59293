"""The main job of `partwright run`: read records, place them, write them, read them back, prove it."""
