"""Reference of configurations: components with parameters, the JSON Schema, and a page of both."""
