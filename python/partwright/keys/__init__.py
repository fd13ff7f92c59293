"""A record's key: its bytes, its hash under each client's rule, and the resulting partition."""
