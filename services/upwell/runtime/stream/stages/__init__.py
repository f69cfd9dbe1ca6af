"""The stages as handlers, one message at a time, pure of Kafka: parse, chunk, prefix, embed, upsert, and control."""
