"""Compiled code that several rooms use: pure functions on arrays, which know nothing of clicks or models.

Every array has one layout, so that each kernel is compiled once: row pointers int64, indices int32,
values float32, C-contiguous.
"""
