"""The key that signs the transparency log, as `emi key log` shows, makes and replaces it."""

from pathlib import Path
from typing import Final

NEXT: Final = """Keep a copy of the key file apart from this machine: without it this log cannot be continued.
Publish the public key where your readers know you; `emi verify --key` takes it."""


def show() -> None:
    """Print the public keys that sign now, the newest first."""
    from generator.record.keys import read_keys

    for signer in read_keys(_known()):
        print(signer.verifier.text)


def make() -> None:
    """Make the key (Ed25519). An existing file is never overwritten."""
    from generator.record.keys import make_key

    path, name = _where()
    signer = make_key(path, name)
    print(f"key file    {path} (mode 0600)\npublic key  {signer.verifier.text}\n\n{NEXT}")


def rotate() -> None:
    """Add a new key, which signs along with the old one."""
    from generator.record.keys import add_key

    signer = add_key(_known())
    print(f"signs along with the old one from the next start: {signer.verifier.text}\n\n{NEXT}")


def finish() -> None:
    """Leave the newest key alone."""
    from generator.record.keys import drop_old_keys

    signer = drop_old_keys(_known())
    print(f"signs alone from the next start: {signer.verifier.text}\n\n{NEXT}")


def _where() -> tuple[Path, str]:
    """Return the key file and the name that a new key in it gets."""
    from generator.cli._settings import generator_settings
    from generator.record.keys import name_of

    settings = generator_settings()
    return settings.log_key_path, name_of(settings.origin)


def _known() -> Path:
    """Return the key file; GeneratorError where there is none yet."""
    from generator.errors import GeneratorError

    path, _ = _where()
    if not path.exists():
        raise GeneratorError(f"there is no log key {path} yet: run `emi key log --make`, or start the service once")
    return path
