"""A second reader of .kb files, written from format-spec/ and nothing else."""
