"""How often, how fast and how safely an agent finds and fixes the cause: cases, answers, scores, runs, reports."""
