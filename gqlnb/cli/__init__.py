"""The command line: ``gqlnb lab``, ``serve``, ``query``, ``schema`` and ``stars``."""
