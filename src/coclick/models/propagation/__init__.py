"""Vector propagation on the click graph: one model, `vpcg`."""
