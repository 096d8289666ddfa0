"""Files that are no page: feeds, pictures, downloads, samples, what crawlers and agents read."""
