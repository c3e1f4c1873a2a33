"""The hardware as the drivers publish it, and who is on it: facts, folded pictures, a graph. Pure; knows no tool and no text budget."""
