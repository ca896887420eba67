"""What a configuration can say: every name with its parameters, the JSON Schema of files, and a page of both."""
