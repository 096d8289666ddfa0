"""A year of the service with everything that befalls a machine, next to the same year undisturbed.

What runs how, and how the two are judged:

- Each year is played by real processes: one generator, one gateway, and one that is the outside (devnet ledger,
  facilitator, node). They are killed by signals, lose their disk by a limit of the kernel, and start again on what
  lies there.
- Time is virtual: one clock in shared memory, which the player moves from tick to tick, so that an hour takes less
  than a second. An hour has ticks at :15, :55 and :00, the minutes at which something is made or judged.
- Every 12th of them publishes its release, and so do those around a fault; the others play and note the release as out.
- A payer buys at drawn hours: 402, signature, settlement by the outside, which fails in the disturbed year; it
  presents a payment again until it gets the body.
- Both years begin in one state that an earlier version left, have one market, one log key, the same votes, and salts
  that follow from seed and hour. The seed is printed, and everything that is drawn follows from it; only how far a
  process got when a kill by the processor's clock met it does not.
- `compare` reads the published log and the ledger files by code of its own. What both years have of a round, a
  forecast, a range and a payment is equal; what one lacks is explained by a fault that the player noted at that time;
  totals and scores differ by exactly that.
"""
