"""The server: ASGI application, scheduling, subscriptions, request log, page and listener."""
