"""The operator is alerted when the service stops: what is looked at, which faults that shows, what is said of each."""
