"""Real control planes, a fake API server and the clusters to put into them: what the product is tested against. Not part of the wheel."""
