"""Which test plays each fault of docs/howto/runbook.md; an empty row says that none does."""

from typing import Final

MODULE: Final = "the module"  # all of its tests
REHEARSALS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "tick": (
        ("runtime/test_scheduler.py", "a tick past its deadline is ended, recorded and not published"),
        ("watch/__main__.py", "generator suspended"),
        ("release/test_last_good.py", "the release comes, and what cannot be made stays as it was"),
    ),
    "gateway": (
        ("watch/__main__.py", "gateway suspended"),
        ("app/test_readiness.py", MODULE),
        ("app/test_limits.py", "a trusted proxy on loopback is counted by its clients"),
    ),
    "edge": (("cli/test_watch.py", "readers who get no answer are a fault of the edge"),),
    "venues": (("market/test_exchanges_faults.py", "one venue alone gives a price and says so"),),
    "venue": (
        ("cli/test_watch.py", "venues are counted by their prices and gone when nothing of them is well"),
        ("market/test_exchanges_faults.py", MODULE),
    ),
    "disk-hung": (("cli/test_watch.py", "a disk that hangs is left behind"),),
    "disk-full": (
        ("release/test_faults.py", "whatever step fails, the next tick publishes and reports it"),
        ("wire/test_space.py", "used up inodes are named"),
    ),
    "memory": (("runtime/test_health.py", "no tick is made into a memory that a restart would not find"),),
    "record": (
        ("runtime/test_health.py", "a start whose memory is behind the published log is refused"),
        ("runtime/test_health.py", "a restore and a new record that is meant start"),
    ),
    "log-key": (("runtime/test_health.py", "the file says that all is well after a tick and that the key is gone"),),
    "store": (("runtime/test_leader.py", "a leader whose store refused two ticks lets another lead for a minute"),),
    "witness": (("record/test_witness.py", "a witness that does not sign or saw more is known until it signs"),),
    "facilitator": (
        ("watch/__main__.py", "facilitator and node suspended"),
        ("payments/test_purchase.py", "any signer of the facilitator may be echoed and no other"),
        ("ledger/test_ledger.py", "what is closed on the facilitators word is listed until the chain says it"),
    ),
    "node": (("cli/test_watch.py", "a node that hangs and one that refuses the token are named"),),
    "unclosable": (),
    "ledger": (
        ("watch/__main__.py", "ledger removed"),
        ("cli/test_doctor.py", "a damaged ledger is named and left as it is"),
        ("ledger/test_damaged_ledger.py", "an intent that cannot be written ends quoting at once"),
        ("faults/test_kill.py", "killed at every step nothing is paid twice"),
    ),
    "clock": (
        ("runtime/test_clock_set_back.py", "the reading after a clock was set back is as if it never was ahead"),
        ("vault/test_vault_clock.py", "a vault from the future is not sold"),
    ),
    "vault": (),
    "certificate": (),
    "backup": (
        ("watch/test_alarms.py", "a fault is reported within three minutes [backup/never]"),
        ("watch/test_alarms.py", "a fault is reported within three minutes [backup]"),
        ("keep/test_evidence.py", "every lost part is missed in one line and the whole backup stays"),
        ("keep/test_evidence.py", "an older record is backed up where that is meant"),
    ),
    "drill": (
        ("watch/test_alarms.py", "a fault is reported within three minutes [drill]"),
        ("keep/test_evidence.py", "every tampered backup is refused in one line and leaves nothing"),
        ("keep/test_evidence.py", "every lost part is missed in one line and the whole backup stays"),
    ),
    "database": (
        ("cli/test_doctor.py", "a damaged ledger is named and left as it is"),
        ("watch/test_alarms.py", "a fault is reported within three minutes [database/old]"),
    ),
    "doctor": (("cli/test_watch.py", "what has a fault of its own is not reported a second time by the doctor"),),
    "down": (),
    "unit": (
        ("keep/test_restore.py", "a restore that was cut off is marked until it was run again"),
        ("ledger/test_ledger.py", "a corrupt ledger is one clear line and stays as it is"),
        ("record/test_log.py", "a key that others may read is refused with the command that mends it"),
    ),
    "restarted": (("watch/__main__.py", "generator killed"),),
    "alarm": (("cli/test_watch.py", "a command that fails is in the status and a fault of its own"),),
    "without an alarm": (
        ("doors/test_ticks.py", "ballots with which two ticks failed are quarantined and releases appear"),
        ("journeys/test_upgrade.py", MODULE),
        ("record/test_log.py", "a rotated key is noted in the log"),
        ("buyer/test_buy.py", "emi adopt takes in what another ledger sold"),
        ("record/test_recount.py", "a site that was lost gets its ballots again"),
    ),
}
