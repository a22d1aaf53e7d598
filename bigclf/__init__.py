"""bigclf: classifiers for files far larger than memory."""

__version__ = "0.1.0"
