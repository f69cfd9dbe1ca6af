"""The distributed runtime: the same stages as workers over Kafka topics."""
