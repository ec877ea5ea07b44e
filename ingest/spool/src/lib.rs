//! The agent's durable memory: a queue of uploads and a map of positions.
