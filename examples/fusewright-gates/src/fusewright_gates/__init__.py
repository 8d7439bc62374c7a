"""Gates that PyTorch has no name for, as an operator source of fusewright."""
