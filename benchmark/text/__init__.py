"""Lexing and counting: documents' bytes to sparse term counts."""
