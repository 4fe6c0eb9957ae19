"""Learning to rank: other models' scores as features of boosted trees."""
