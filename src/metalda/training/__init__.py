"""The training loop: Gibbs iterations, draws, checkpoints, memory, and distributed training."""
