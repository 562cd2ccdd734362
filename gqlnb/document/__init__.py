"""The nouns: a document, its variables, a result, its frame, and how they are shown."""
