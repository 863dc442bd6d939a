"""What the well-known tables are, where they come from, and what not to call them."""

SHUTTLE = """Statlog Shuttle.

58,000 states of a space shuttle's radiators: nine numeric readings, seven states, of which one
holds 45,586 points and the smallest 10. Source: UCI Machine Learning Repository, Statlog (Shuttle),
CC BY 4.0; downloaded from OpenML (data set 40685) where no file is given. The order of the rows
depends on which of the two it was.
"""

KDD = """KDD Cup 1999, the official 10 % file ("KDD 10 %").

494,021 network connections of 23 kinds (normal traffic and 22 attacks), from 280,790 points down
to 2. Kept are the 33 numeric attributes that are not always zero. Only 141,479 rows differ. The
full file has 4,898,431 rows: results on this one are results on KDD 10 %, not on KDD.
Source: UCI Machine Learning Repository, KDD Cup 1999 Data, CC BY 4.0.
"""

KDD_FULL = """KDD Cup 1999, the full file ("KDD").

4,898,431 network connections of 23 kinds (normal traffic and 22 attacks), from 2,807,886 points down
to 2. Kept are the 33 numeric attributes that are not always zero.
Source: UCI Machine Learning Repository, KDD Cup 1999 Data, CC BY 4.0.
"""

KDD_REWEIGHTED = """KDD Cup 1999, 10 % file with rows repeated ("KDD 10 %, reweighted").

The rows of the official 10 % file, those of seven classes repeated until each of the 23 classes is
as large as in the full file: 4,898,431 rows, but no more different points than the 10 % file has
(141,479). Results on it are results on KDD 10 %, reweighted, not on KDD.
Source: UCI Machine Learning Repository, KDD Cup 1999 Data, CC BY 4.0.
"""

DIGITS = """Handwritten digits.

1,797 images of 8 × 8 pixels with values from 0 to 16, in ten classes; a part of UCI's Optical
Recognition of Handwritten Digits, CC BY 4.0, as it comes with scikit-learn.
"""

BANKING77 = """Banking77.

13,083 questions of a bank's customers with 77 intents of 75 to 227 questions. The vectors are
TF-IDF of words and pairs of words, reduced to 64 dimensions by a truncated SVD and scaled to length
one; they know nothing of meaning, and intents overlap in them. Source: PolyAI, task-specific
datasets (Casanueva et al. 2020), CC BY 4.0; training rows first, then test rows.
"""
