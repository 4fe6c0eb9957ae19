"""All papers, by their keys; the specifications in them are our models for the papers' systems."""

from __future__ import annotations

from reproduce import gao2011, jiang2016, wu2012, wu2013, wu2013b

PAPERS = {
    paper.key: paper for paper in (jiang2016.PAPER, wu2013b.PAPER, gao2011.PAPER, wu2013.PAPER, wu2012.PAPER)
}
