"""Suggestions for a search box: completions of what was typed so far, and corrections of misspelt queries.

query_selection    which queries of a graph may be suggested, and how much each is used
completion_index   the queries sorted for completion
word_statistics    words of queries and titles, and pairs of neighbouring words
delete_index       words within a few edits of a word
channel            the most likely intended text of a query: edits, splits and joins of words
confidence         how sure a correction is
suggestions        both in one directory: build, open, complete, correct
"""
