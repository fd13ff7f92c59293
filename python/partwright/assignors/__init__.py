"""Who in a consumer group reads what: Kafka's assignors, a group's members, and comparisons of assignors."""
