"""Figures, one module for each kind of answer: an answer in, its document out."""
