"""Failures of the generator.

    GeneratorError
    ├── SourceError        the market source cannot be used at all
    ├── WeightsError       the brain's weights file is not the one expected
    ├── MemoryUnreadable   the memory cannot be opened or is of another schema
    ├── PublishError       a release could not be written; the last one stays current
    ├── BackupError        a backup was not made, does not hold, or was not put back
    ├── SetupError         a machine cannot be set up, or a step of it failed
    ├── LeadershipLost     another generator holds the lease; nothing more may be written here
    └── LeaseUnreachable   the lease could not be reached; it is not known who holds it

Caller mistakes are ValueError.
"""


class GeneratorError(Exception):
    """Root of the generator's failures; its text is one clear line for the operator."""


class SourceError(GeneratorError):
    """The market source cannot be used at all."""


class WeightsError(GeneratorError):
    """The brain's weights file is not the one expected."""


class MemoryUnreadable(GeneratorError):
    """The memory cannot be opened, is corrupt, or is of another schema."""


class PublishError(GeneratorError):
    """A release could not be written; the last one stays current."""


class RecordBehind(GeneratorError):
    """Readers have a log that the memory does not extend, and no one said that this is meant."""


class BackupError(GeneratorError):
    """A backup was not made, does not hold, or was not put back."""


class SetupError(GeneratorError):
    """A machine cannot be set up as asked, or a step of it failed."""


class LeadershipLost(GeneratorError):
    """Another generator holds the lease, or ours ran out; whatever was about to be written must not be.

    Args:
        text: one clear line.
        epoch: under which another wrote, where that was seen; 0 where not.
    """

    def __init__(self, text: str, epoch: int = 0) -> None:
        super().__init__(text)
        self.epoch = epoch


class LeaseUnreachable(GeneratorError):
    """Where the lease lies did not answer, or not with a lease."""
