"""Every number that `focused` was tuned with: what it means, what it trades off, and why it has its value.

Probabilities and shares are in [0, 1]; rows, draws, questions, answers and trials are counts; a decay is what
is left of a memory with each new entry, so that about the last 1 / (1 - decay) count.

The values as a whole were held against `experiments/required.toml` (the paper's synthetic data, Shuttle, KDD,
banking77, digits and mixtures), those for noisy answers against its part "noisy" (digits and a mixture of 30
Gaussians, 0 to 20 % wrong answers). Where one was changed or measured on its own, it says so.
"""

from __future__ import annotations

import numpy as np

# Which rows to ask about

AUDIT_SHARE = 1 / 12
"""Share of the questions that audit: more teach the model less, fewer make the certificate wait."""
PAPER_SHARE = 1 / 16
"""Share of the draws that are the paper's D²-samples. Fixed, so that Lemma 2 holds for them; more would
end a run sooner when nothing is left to find, and leave less for finding it. None where no cluster is
recovered on the way (goal="labels", stop="certified"), as the test cannot pass there: that took 3 to 4 % of
the questions. ARI on banking77 (MiniLM) is .640 instead of .637 after 300 questions and .877 instead of .875
after 3,000 without it (10 seeds): no more than such a share of the questions brings."""
AUDIT_AFTER = 32
"""Draws before the first audit: at first most rows are new, and nothing is predicted well. With
stop="certified" it begins as soon as hardly any are."""
AUDIT_TRIES = 16
"""Uniform draws to find a row to audit, as many may hit known ones; then something else is asked."""
FEW_DISCOVERIES = 0.5
"""With stop="certified", share of new rows in the search below which little but the certificate is missing.
With 0.3 (9 seeds) and 0.7 (25) wine and breast cancer took as many or up to a tenth more, in the median."""
PRIOR_AUDITS = 10
"""Audited rows that the model's own doubts count as much as."""
DRAWS_PER_ROW = 64
"""Draws for each row of a wave, as many may hit known rows, before any unknown row will do."""
UNIFORM_BUFFER = 16
"""Uniform rows drawn at once: where rows are on other machines, each fetch is a round trip."""
WAVE_SHARE = 1 / 16
"""Rows of a wave, as a share of those known, as they do not learn from each other: without this bound
batch=64 asked 1.8 times the questions of batch=1 on digits, with it 1.17 times (15 seeds)."""
AUTO_WAVE_SHARE, AUTO_WAVE_ROWS = 1 / 64, 16
"""The same, and a bound in rows, for batch="auto": where answers take no time, waves only save overhead."""
ROWS_PER_PERSON = 2
"""Rows of a wave for each of several people: while one is answered the next is there."""
FOUND_ONE_IN = 4
"""Of so many rows that several people found to be in none of the clusters, one founds a cluster at once."""
EXTRA_POOL, EXTRA_SCORED = 1024, 128
"""Rows drawn uniformly of which questions beyond the wave are chosen by distance, and by doubt."""
EXTRA_COMPARED, EXTRA_COMPARED_MOST = 1 / 8, 3 / 4
"""Least and largest share of them that compare clusters, as several people find the same new one at once."""
FIRST_ROWS = 8
"""Rows that a change of earlier answers leaves open, asked about at once beside those of the open wave."""

# Sheets

SHEET_BESIDE = 2
"""Other rows asked about beside a sheet: they find what sheets cannot, and somebody else may answer them."""
SHEET_LIKELY = 0.7
"""Probability of a row's cluster from which on it may be on a sheet."""
SHEET_LEAST_ROWS = 4
"""Rows of a sheet, at least."""
SHEET_OUT_COST = 2
"""Presses that a row costs that is not of its sheet's cluster: to point at it, and to find its own."""
SHEET_SETTLED = 0.04
"""What it is worth to know a row that was predicted rightly, compared with one that was not."""
SHEET_SAMPLE = 4096
"""Rows among which those of a sheet are sought: more would find better ones, and take longer."""
SHEET_PRIOR_ROWS, SHEET_DECAY = 12, 0.8
"""Rows of sheets, all as likely as predicted, before the first one, and the decay of what sheets say of how
far the model is to be trusted."""

# How questions are divided among the aims

SEARCH_SHARE = 1 / 2
"""Least share of the questions that look for new clusters: hardly any other finds one."""
PRIOR_FOUND = {"explore": 2.0, "survey": 0.2, "typical": 2.0}
PRIOR_ASKED = {"explore": 4.0, "survey": 4.0, "typical": 4.0}
"""Clusters and questions of the ways to search before the first draw: surveys are tried last."""
FAR_SHARE = 1 / 8
"""Share of the search for new clusters, other than surveys, that looks far from all labelled rows where
typical rows are asked about: those find what is large, this what is small and far away."""
RATE_FOUND, RATE_ASKED = 0.1, 4.0
"""Clusters and questions added to what a way to search brought lately, so that none is written off."""
RATE_SURVEYED = {"explore": 0.1, "typical": 0.02}
"""The former for surveys, by what they compete with: a typical row teaches about its neighbours even where it
finds no cluster, a uniform one hardly anything."""
FOUND_DECAY, SPENT_DECAY = 0.97, 0.98
"""Decay of what a way to search found and asked, and of the questions spent on searching and on all."""
DISCOVERY_WINDOW, SURPRISE_WINDOW = 16, 32
"""Rows over which the shares of new rows in the search, and of rows not as predicted, are averaged."""
PRIOR_SURPRISE, MIN_SURPRISE = 0.5, 0.01
"""The latter share at first, and at least, so that no aim is written off."""
FLAT = 0.05
"""The latter share below which rows bring hardly anything new."""

# When a row is in a cluster, or new: trusted answers

NEW_BELOW = {"explore": 0.05, "typical": 0.3}
"""Probability that any cluster left holds a row, below which it is called new (certify="lazy"), where far
rows are asked about and where typical ones are: higher founds more clusters that are merged later, lower asks
more clusters about every new row. For typical rows 0.15, 0.3 and 0.5 were tried on embeddings of banking77
and stackoverflow and on a mixture with modes: 0.3 was best or as good on each."""
ENOUGH_REFUSALS, LIKELY = 3, 0.5
"""Clusters that refused a row after which it is called new where typical rows are asked about, unless another
one is this likely (certify="lazy"; not in surveys, which tell how much was not found). The fourth guess is
right for one row in ten, and another row can be asked about for less; if the new cluster is part of another
one, comparing the two tells so sooner, by all rows around them. On stackoverflow three hundred questions
settled 85 rows before, and 190 after. Two to four refusals were as good on banking77, stackoverflow and
digits."""
LINEUP_BELOW = 0.01
"""The same for clusters in a line-up, where one more costs a glance, not a question."""
OBVIOUS = 0.9
"""Probability of a cluster that is asked about alone, as a line-up takes longer to look at."""

ENOUGH_ROWS, FEW_RESCUED = 8, 0.2
"""Rows with UNSURE answers, and share of them that could be told after all, below which asking about other
members is no use: where some rows are too hard, that saves two of three questions about each."""

# Which clusters are one

COMPARE_ABOVE_GRAPH, COMPARE_ABOVE_VORONOI = 0.3, 0.1
"""Similarity at which two clusters are compared at once, as a wrong "new" misleads the model: with a graph,
the share of rows that would be in the other cluster; without, the probability that it had for new rows."""
LEAST_DOUBT = 1e-3
"""Least probability that a row is not of its cluster, where it is asked which other one it would be of."""
SIZE_POWER = 0.5
"""Power of a cluster's size, as a share of the mean, by which its similarities count less. 0.5 found more
mergers than 1 among the first pairs (40 % of 20, not 30 %, on banking77), and 0 more of no weight."""
COMPARE_SHARE, COMPARE_SHARE_IDLE = 1 / 8, 1.0
"""Questions about other pairs for each question about a row, and when rows bring hardly anything new."""
MOST_WORTH = 6.0
"""The most further comparisons that a merger is worth. It is worth the questions about rows until one is not
as predicted, which is what it competes with: about two at first, three to six later. Worth two, and with the
similarity by where rows would be otherwise, banking77 (texts) had 125 clusters, not 157, after 1,000
questions, and ARI .711, not .688; 26 overlapping classes in 16 columns .927 and .988 after 300 and 1,000, not
.896 and .979. With 3 throughout, ARI after 300 questions was a little lower."""
SIMILARITY_STEP = 0.2
"""Least weight of the latest row in its cluster's similarities, as the model improves."""
PAIRS_AHEAD = 64
"""Pairs that are sorted at once: to sort all pairs of clusters for each question takes too long."""
MEMBER_PAIRS = 64
"""Pairs of members, or members of a cluster, among which one to ask about is looked for: a bound on time."""

# What is guessed before anything is asked

GUESS_NEIGHBORS, GUESS_ROWS_PER_NEIGHBOR = 20, 10
"""Neighbours by whose distances the density around a row is told, at most; and rows for each, where few."""
GUESS_PROMINENCE = 0.8
"""How much denser the top of a mode is than where it meets another, as a log ratio; chance makes about 0.2
(1 / √20). ARI with it was .48 on banking77 (MiniLM), .39 (word vectors), .53 on stackoverflow, .64 on digits,
and one mode of 5,000 Gaussian rows; k-means that is told the number has .50, .40, .52 and .67."""
GUESS_ROWS = 20_000
"""Rows that are looked at where there are more than are kept in a graph: a bound on time."""

# The model of the clusters

GRAPH_ROWS = 30_000
"""Rows up to which a graph and distances to all clusters are kept for every row: time and memory grow with
rows x clusters."""
DEFERRED_ROWS = 100_000
"""Rows beyond which sites that change no prediction wait for a later pass over the data. So 3 % of the
distances between rows and labelled rows are computed, instead of 17 %."""
STALE_GROWTH = 1.05
"""Growth of the labelled rows after which all rows are predicted anew: a bound on time."""
UNCERTAIN_ROWS_GRAPH, UNCERTAIN_ROWS_VORONOI = 4, 8
"""Uncertain rows found at once, with and without a graph: more save time, but answers change them."""
NEIGHBOURHOOD = 32
"""Rows around a site of which the most uncertain are taken, without a graph."""
SETTLED = 0.3
"""What is left of the doubt about the neighbours of a row in the graph once its cluster is known, or asked
for, until all rows are predicted anew."""
REACH = 2
"""Steps in the graph over which a typical row stands for others: with ten neighbours about as many as the
rows of a small cluster. Three were as good or a little worse on the same data."""
COVERED = 10.0
"""By how much a labelled row among the ten neighbours of a row lowers what there is to learn about it: doubt
d beside c labelled neighbours counts as d / (1 + c). Where doubt stays though much is labelled, rows are hard
to tell, and more labels do not help. Without this, ARI on stackoverflow was .62 and .66 after 300 and 1,000
questions, with it and the bound on refusals .66 and .69 (3 seeds); 5 was as good, 30 worse."""
OVERLAP_ROWS = 8192
"""Evenly spaced rows from which the overlap of clusters is estimated: a bound on time."""
UNCERTAINTY_POWER = 4
"""With a graph, rows are drawn by this power of their uncertainty: mostly the top, not only it."""
SCALE_ROWS = 256
"""Evenly spaced rows whose median distance is the scale of the data."""
BLOCK = 2**15
"""Rows x clusters whose features are in memory at once: 1 MB, and as much for what is made of them."""

NEARNESS, DISCRIMINANT, GRAPH, SIZE = range(4)
"""Features of a cluster: how near its nearest member is, relative to the nearest of all; log posterior of
the discriminant; log probability of label propagation; log share of the predicted rows."""
NEW, FAR, UNREACHED = range(4, 7)
"""Features of "new": 1; log distance to the nearest member of all, by the scale; label propagation."""
PRIOR_WEIGHTS = {
    "explore": np.array([8.0, 0.5, 1.0, 0.2, 0.0, 4.0, 0.7]),
    "typical": np.array([4.0, 0.5, 1.5, 0.2, 0.0, 4.0, 0.7]),
}
"""Their weights before the first answer, where far rows are asked about and where typical ones are. Twice as
near is 2⁸ times as likely; the discriminant and the graph mostly repeat what distances say, and size says
little. The neighbours of typical rows tell more: the second was as good or better than the first on
banking77, stackoverflow, digits and a mixture with modes, 60 to 300 questions."""
PRIOR_DEVIATIONS = np.array([4.0, 0.4, 0.5, 0.3, 3.0, 3.0, 0.5])
"""Standard deviations of the prior: how far the answers can turn the weights. At most three of them; and
nearness, discriminant and graph never count against what they say."""
LOGIT_DECAY = 0.998
"""Decay of the certainty about the weights: what is near changes while labels grow."""
FEATURE_LIMITS = (-30.0, 1e-12, 5.0, 1e-3)
"""Least log posterior of the discriminant; what is added to squared distances, in units of the scale²;
largest log ratio of distances; what is added to probabilities of the graph. No feature outvotes all."""

LDA_REFIT_GROWTH = 1.1
"""Growth of the labelled rows after which the discriminant is fitted anew: a bound on time."""
LDA_MIN_RESIDUALS = 5
"""Labelled rows beyond one a cluster before a covariance is worth estimating."""
LDA_MIN_EIGENVALUE = 1e-9
"""Of the covariance relative to the largest, where columns are constant or equal."""
N_NEIGHBORS = 10
"""Neighbours of a row in the graph. 6 and 15 were worse on banking77 (MiniLM), by .02 and .01 of ARI."""
TREE_COLUMNS = 15
"""Columns up to which a tree finds neighbours; with more it looks at nearly all rows, and products of rows
are quicker. scikit-learn decides alike."""
PRODUCTS_AT_ONCE = 1 << 22
"""Products of rows that are kept at once: a bound on memory."""
CANDIDATES = 4
"""Rows, for each neighbour that is wanted, found in the working space, of which those are taken that are
nearest by all columns: 64 components of embeddings find 8 of the 10 nearest rows, and among their 30 nearest
are 99 % of them. What the graph says with them is worth .03 of ARI at 300 questions, .01 at 1,000."""
FETCHED_ROWS = 1024
"""Rows that are fetched at once with all columns: a bound on memory."""
WALK_ON = 0.99
"""Probability that the random walk goes on at each step: about 100 steps, so far labels hardly count."""
PROPAGATION_TOLERANCE, PROPAGATION_VISITS = 1e-3, 6
"""Change of a probability below which neighbours are not visited, and visits of each row, on average,
after which a label is spread far enough: bounds on time."""

# When a centre is accurate, and what is promised

ACCURATE = 0.05
"""Estimated relative squared error of a centre at which its cluster is recovered: half of the 10 % that
the benchmarks hold true errors to, as the estimate rests on few trials."""
TRIALS_AT_ONCE, MAX_TRIALS = 6, 60
"""Trials of a cluster in a wave: as many as suffice if none fails. And in all: one that is not recovered
by then overlaps with others, and more trials would not help."""
TRIAL_POOL, TRIAL_ROWS = 256, 12
"""Predicted rows of a cluster, and how many of them are drawn by distance for its next trials."""
RECHECK = 8
"""Trials after which members, which count as tried, may make a centre accurate: a bound on time."""
TRIAL_DECAY = 0.95
"""Decay of the trials of a cluster, as predictions improve with every failure."""
PURITY_QUANTILE = 0.9
"""Quantile of the posterior share of foreign rows that is reckoned with."""
FAILURE_COST = 4
"""Successes that a failure outweighs where the cluster that seems nearest to recovery is tried next."""
CONFUSED_SHARE, CONFUSED_TRIALS = 0.25, 8
"""Share of a cluster's trials, of at least so many, in one other at which the two are reported."""
RISK_WRONG, RISK_UNDISCOVERED = 0.04, 0.01
"""Probabilities with which the two bounds of the certificate fail, 5 % together. Most of it goes to wrong
labels, as rows in clusters that were not found are labelled wrongly, too: that bound holds for both."""
RISK = RISK_WRONG + RISK_UNDISCOVERED
"""The two together; and the probability that the bound for who looks at any time, on its own, fails."""

# Noisy answers: how often annotators err

PRIOR_ERROR, PRIOR_ERROR_ANSWERS = 0.1, 20.0
"""Error rate at first, as if seen in so many answers; was 0.05, but an early mistake costs most."""
OWN_ANSWERS = 8.0
"""Answers after which an annotator's own record counts as much as that of all."""
MIN_ERROR, MAX_ERROR, MAX_MEAN_ERROR = 0.002, 0.9, 0.4
"""Bounds of an annotator's rate (beyond 1/2, answers count against what they say), and of that of all, who
are taken to be right more often than not."""
CAUTION = 2.0
"""Wrong answers that each annotator is charged with where clusters are merged or split; was 1.5."""
CLEAR = 0.95
"""Certainty about two rows at which an answer about them counts as right or wrong."""
CHECK_SHARE, CHECKS_AT_FIRST, CHECKS_LATER = 1 / 16, 40, 1 / 4
"""Questions that check two rows of one cluster, for each question about a row; after so many, when rates
are known, this part of it. Was 1/8."""

# Noisy answers: rows and clusters. What "was" otherwise was changed together, until a run in which nobody
# errs asked hardly more than with trusted answers: bolder about new clusters, more careful about mergers.

CERTAIN_MEMBER, CERTAIN_NEW = 0.85, 0.8
"""Posteriors at which a row is in a cluster, or new. Boldly, as links and comparisons mend it, and a second
row teaches more than a second question about the first."""
MAX_QUESTIONS = 24
"""Questions about a row after which the likeliest cluster is taken."""
ENOUGH_ANSWERS, LIKELY_MEMBER, LIKELY_NEW = 4, 0.5, 0.5
"""Answers about a row after which it is left in doubt unless a cluster, or "new", is this likely. Without, a
hundred rows in whose favour nobody spoke took 58 % of the questions about rows on banking77 (MiniLM), with
5 % wrong answers; with it, twice as many rows were placed with 3,000 questions."""
QUICK_AMONG = 4
"""Uncertain rows drawn for each that is asked about: the one that few questions settle. On banking77 (MiniLM)
ARI is .791 instead of .779 after 3,000 answers (12 % false "different", 4 % false "same"; 9 seeds); with
typical rows chosen so, too, .778. Where answers are trusted it brought .002 in 1,000 and 3,000 (4 seeds)."""
LINK_ROWS, LINK_SHARE, LEAST_HARM, SPLIT_LINK_ABOVE = 2, 1 / 8, 0.05, 0.9
"""Rows of both parts of a cluster that one answer holds together, questions about such links for each one
about a row, the chance that the parts are two clusters times the rows of the smaller one from which on that
is asked, and the chance at which they are split. Without, 7 of 85 clusters on banking77 were two (ARI .756
instead of .804)."""
DISAGREEING_ARE_ONE = 2.2
"""Log odds that a cluster is one though answers within it disagree, apart from those: 9 to 1."""
LINK_DEBT = 16.0
"""Questions about links that can be put off, at most: where there are none, they do not add up."""
GROWN_ROWS, YOUNG_ABOVE, YOUNG_QUESTIONS = 3, 0.02, 4
"""Members at which a cluster is compared with others that are at least so similar, by so many questions: what
it is like can be told then. On banking77 this led from 98 clusters of at least three rows to 87."""
MOST_COMPARED = 32.0
"""Sum of absolute log odds of answers between two clusters after which it cannot be told whether they are
one: about 14 answers of which 5 % are wrong, 28 of which 20 % are."""
REFUSED = -1.7
"""Log odds of the answers between two clusters at which they can be different: one answer if at most 10 % are
wrong, two if 20 % are, as one would keep every fifth pair apart for good that is one."""
IMPURITY = 0.04
"""Share of members that are not of their cluster, where clusters are compared by them."""
LEAST_SEEN = 0.2
"""Share of what is wrong that the audit sees, at least, however many answers are wrong."""
PRIOR_FLOOR, LATER_CLUSTERS = 0.01, 0.01
"""Share of a prior that is spread evenly over the clusters, and what those discovered later have."""
MODESTY, MODESTY_ROWS, MIN_MODESTY = 1.5, 20, 0.02
"""Share of a prior that goes to square roots of the weights, and as much to "new": 1.5 / (20 + labelled
rows), at least 2 %, as a young model is overconfident."""
NOT_WORTH_ASKING = 0.01
"""Posterior of a cluster below which no question goes to it."""
FIRM_MEMBER = 0.8
"""Certainty of a member's own cluster at which it is preferred for questions."""
MERGE_ABOVE, SEPARATE_BELOW, REOPEN_ABOVE = 0.99, 0.02, 0.05
"""Probabilities at which two clusters are merged, held to be different (was 0.002), and open
again: higher, so that no pair goes to and fro."""
SIMILARITY_PRIOR = 0.01, 0.5
"""Bounds of the prior that two clusters are one, which is their similarity: answers decide."""
REVISE_EVERY = 16
"""Rows after which all decisions are reviewed, which takes time in proportion to all answers."""
MOVE_ABOVE = 0.9
"""Posterior of another cluster at which a row moves there."""
SPLIT_ABOVE = 8.0
"""Log likelihood ratio at which a cluster becomes two: 3,000 to 1."""
CONFIRM_ERROR, CONFIRM_MORE_THAN, CONFIRM_PART = 0.06, 3, 1 / 4
"""Error rate (was 0.03) beyond which clusters of one row are confirmed before others are looked for, if
there are more than so many and this part of all."""
CONFIRM_ROWS, CONFIRM_NEIGHBOURS = 4, 16
"""Rows to confirm a cluster, and among how many neighbours of its only row they are found."""
REPORT_BELOW = 0.95
"""Certainty of a row below which it is reported, and not used for checks."""
IMPOSSIBLE = 1e-300
"""A probability in place of 0, whose logarithm is finite."""
