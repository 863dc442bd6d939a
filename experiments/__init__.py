"""The paper's experiments, run again with ours beside them, and studies of ``focused``.

Run them with ``python -m experiments``, or from Python:

>>> from experiments.design import run_experiment
>>> from experiments.paper import PaperTables
>>> results = run_experiment(PaperTables(["digits"]), out="results")  # doctest: +SKIP
>>> results.summary.query("metric == 'fixed_budget' and algorithm == 'batched'")  # doctest: +SKIP
"""
