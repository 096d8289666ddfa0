"""What pages, charts and files say alike: numbers, votes, the first figure of the record, days, fields of answers."""
