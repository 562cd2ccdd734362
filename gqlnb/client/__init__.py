"""The GraphQL client, its named connections and transports."""
