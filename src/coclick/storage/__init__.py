"""Artefacts on disk: directories of arrays under one manifest."""
