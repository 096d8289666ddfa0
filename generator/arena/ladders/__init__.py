"""Ladders: the chance of each move, sealed before each hour, judged after it and scored."""
