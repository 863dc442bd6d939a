"""Compiled loops over rows; callers own the buffers."""
