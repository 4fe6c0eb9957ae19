"""The service: an HTTP API over trained models, and the studio page that shows what they have learned.

loaded_models   the models that are served, reloaded when they change on disk
api             the routes of the API; requests, responses and openapi describe what they take and return
middleware      what applies to every request: API key, limits, time-outs, headers, metrics
app             all of it as one application; `run` starts it
"""
