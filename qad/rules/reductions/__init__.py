"""Functions that take entries together: sums, scans, extremes, averages, sets."""
