"""The report read sentence by sentence, and worked out again from the candles."""
