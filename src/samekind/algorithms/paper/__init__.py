"""The algorithms of *Learning to Cluster via Same-Cluster Queries* (Li, Song, Zhang; 2021)."""
