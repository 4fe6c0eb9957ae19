"""The studio: pages that show what models do, each with its JSON at the same address and `.json`.

`views`, `clicks` and `log` make the plain values that a page draws, `routes` puts them at addresses, `page/`
draws them in the browser.
"""
