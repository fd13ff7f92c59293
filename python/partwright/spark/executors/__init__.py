"""Code on executors: how functions get there, what is missing there, and the package sent after them."""
