"""A source becomes raw rows, raw rows become blocks. Nothing here knows a learner."""
