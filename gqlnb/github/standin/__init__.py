"""The stand-in for GitHub's GraphQL service: schema, data, search, HTTP front end, rate limits."""
