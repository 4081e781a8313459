"""A project's state as the files of several dialects, and those files on disk."""
