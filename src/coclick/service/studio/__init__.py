"""The studio: pages that show what models have learned, each with its data as JSON.

`views`, `clicks` and `log` compute the data, `routes` serves it, and `page/` draws it in the browser.
"""
