"""Groups with members of several clients: what members tell the leader, and what each client's leader assigns."""
