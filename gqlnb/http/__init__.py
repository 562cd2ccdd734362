"""GraphQL over HTTP as plain values: requests, responses, JSON, and the rules between them."""
