"""Training algorithms: singular vectors, EM, alternating optimisation, gradient descent, early stopping."""
