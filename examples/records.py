"""
Duplicates in a table of people
===============================

800 records of people, some of whom are there several times, with typing errors: who is who, by 150 answers.

``samekind label people.csv --records`` asks the same questions on a page.
"""

import samekind

people, person = samekind.datasets.make_records(800, duplicates=0.3, random_state=0)  # made up
print(people.head(3).to_string(index=False))

oracle = samekind.LabelOracle(person)  # or a function of two row numbers
found = samekind.solve(people, oracle, algorithm="records", budget=150, random_state=0)
people["entity"] = found.labels_

# %%
# What was found: records of one person have one number.
sizes = people["entity"].value_counts()
print(f"{len(sizes):,} people in {len(people):,} records; {found.n_questions_} questions")
print(people[people["entity"] == sizes.index[0]].to_string(index=False))

# %%
# How sure that is: bounds on pairs that are wrong, and on pairs that are missing.
print(found.certificate_)
print(
    "adjusted Rand index:", round(samekind.measures.adjusted_rand_index(person, found.labels_), 4)
)
