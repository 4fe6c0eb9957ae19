"""The service: an HTTP API over trained models, and the studio page that shows what they have learned.

catalogue   the models that are served, swapped when they change on disk
api         addresses: what they take, what they answer, and the document that says so
guard       what every request passes: the key, limits, time-outs, headers, figures
app         all of it as one application; `run` starts it
"""
