"""What a deployment's restart costs a group under each protocol, assignor and kind of membership."""
