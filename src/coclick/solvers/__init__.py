"""How models learn: singular vectors, alternation, gradients, expectation maximisation. No product words."""
