"""Groups whose members are of several clients: what they tell each other, and what each leader makes of it."""
