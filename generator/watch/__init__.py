"""The operator hears when the service stops: what is looked at, which faults that shows, what is said of each."""
