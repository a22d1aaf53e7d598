"""Row loops that several algorithms share, compiled by numba."""
