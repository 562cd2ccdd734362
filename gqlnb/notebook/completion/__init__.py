"""What may stand at the cursor in a GraphQL text, and its documentation."""
