"""`emi log`: the key that signs the transparency log."""

from pathlib import Path

import typer

log_app = typer.Typer(
    name="log", help="The transparency log's key: make it, show it, replace it.", no_args_is_help=True
)

NEXT = """Keep a copy of the key file apart from this machine: without it this log cannot be continued.
Publish the public key where your readers know you; `emi verify --key` takes it."""


def _where() -> tuple[Path, str]:
    from generator.cli._settings import generator_settings
    from generator.record.keys import name_of

    settings = generator_settings()
    return settings.log_key_path, name_of(settings.origin)


def _known() -> Path:
    """Return the key file; GeneratorError where there is none yet."""
    from generator.errors import GeneratorError

    path, _ = _where()
    if not path.exists():
        raise GeneratorError(f"there is no log key {path} yet: run `emi log init`, or start the service once")
    return path


@log_app.command()
def init() -> None:
    """Make the log's key (Ed25519). An existing file is never overwritten.

    Example: EMI_BASE_URL=https://example.org EMI_LOG_KEY_FILE=/etc/emi/log.key emi log init
    """
    from generator.record.keys import make_key

    path, name = _where()
    signer = make_key(path, name)
    print(f"key file    {path} (mode 0600)\npublic key  {signer.verifier.text}\n\n{NEXT}")


@log_app.command()
def show() -> None:
    """Show the public keys that sign now, the newest first.

    Example: emi log show
    """
    from generator.record.keys import read_keys

    for signer in read_keys(_known()):
        print(signer.verifier.text)


@log_app.command()
def rotate(
    *, finish: bool = typer.Option(False, "--finish", help="End the overlap: only the newest key signs.")
) -> None:
    """Add a new key; old and new sign together until `emi log rotate --finish`. Restart the generator after each.

    Leave weeks between the two, so that whoever verifies now and then learns of the new key from the old one.

    Example: emi log rotate
    """
    from generator.record.keys import add_key, drop_old_keys

    path = _known()
    if finish:
        signer = drop_old_keys(path)
        signs = "signs alone"
    else:
        signer = add_key(path)
        signs = "signs along with the old one"
    print(f"{signs} from the next start: {signer.verifier.text}\n\n{NEXT}")
