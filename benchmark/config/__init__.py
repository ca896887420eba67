"""What a configuration may say, and the cells it stands for."""
