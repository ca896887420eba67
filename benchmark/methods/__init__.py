"""What a configuration can name, and how it is trained and asked: a problem and its splits to decisions."""
