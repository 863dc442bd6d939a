"""The labelling page and its server. It keeps nothing of its own, so it may be killed at any moment.

`app.make_app` puts the parts together. Nothing is imported here: the application takes a second to load.
"""
