"""Answering: a schema on ``/graphql``, for people, programs and other machines."""
