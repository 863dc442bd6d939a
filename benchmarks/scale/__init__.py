"""What larger data on more machines would cost: measured constants, and a model that puts them together.

``python -m benchmarks.scale`` measures and prints the tables of docs/scale.md, ``--write`` puts them there.
"""
