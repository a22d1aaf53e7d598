"""The driver: rows are scored, learned, measured; the model is kept."""
