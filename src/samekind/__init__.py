"""Find the kinds in a pile of things by asking "are these two of the same kind?".

The public names stand in `__init__.pyi`. Each is imported when it is first used.

>>> import samekind
>>> X, y = samekind.datasets.load_digits(return_X_y=True)
>>> clusters = samekind.solve(X, samekind.LabelOracle(y), budget=2_000, random_state=0)
>>> clusters.n_recovered_
10
"""

import lazy_loader

from samekind._version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
