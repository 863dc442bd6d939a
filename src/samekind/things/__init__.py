"""What a person looks at (texts, pictures, rows of a table), and the features it is known by."""

from samekind.things._demo import demo_things
from samekind.things._load import load_things
from samekind.things._things import Picture, Shown, Things

__all__ = ["Picture", "Shown", "Things", "demo_things", "load_things"]
