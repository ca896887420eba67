"""What stands above a single run: notebooks, a first configuration, comparisons, pages, exports, and explanations."""
