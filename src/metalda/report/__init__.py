"""A fitted model as one HTML file that needs no network: a summary in plain data first, then the page from it."""
