"""All pages of a query: which request comes next, and how its answer joins those before it."""
