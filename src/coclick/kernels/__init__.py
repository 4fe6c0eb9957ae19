"""The numeric core: pure functions on arrays. No word of the product occurs in here.

Arrays have one layout each, so that every kernel is compiled once: row pointers int64, indices int32,
values float32, C-contiguous.
"""
