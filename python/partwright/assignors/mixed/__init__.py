"""Groups with members of several clients: what members tell each other, and what each leader makes of it."""
