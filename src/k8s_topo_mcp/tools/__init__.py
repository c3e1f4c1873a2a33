"""The questions that the server answers: one module a tool, and what they share. `catalogue.TOOLS` lists them."""
