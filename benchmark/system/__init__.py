"""What the machine and the language provide: memory, threads, compiled code, files, errors, plug-in code."""
