"""Of which commit a build is, read from a checkout without git."""

import subprocess
from pathlib import Path

import pytest

from hatch_build import head_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git_folder(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    "files",
    [
        {".git/HEAD": f"{COMMIT}\n"},
        {".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/main": f"{COMMIT}\n"},
        {".git/HEAD": "ref: refs/heads/main\n", ".git/packed-refs": f"# pack-refs\n{COMMIT} refs/heads/main\n"},
        {
            ".git": "gitdir: elsewhere/worktrees/two\n",
            "elsewhere/worktrees/two/HEAD": "ref: refs/heads/two\n",
            "elsewhere/worktrees/two/commondir": "../..\n",
            "elsewhere/packed-refs": f"{COMMIT} refs/heads/two\n",
        },
    ],
    ids=["detached", "branch", "packed", "worktree"],
)
def test_the_commit_of_a_checkout_is_read_without_git(tmp_path: Path, files: dict[str, str]) -> None:
    assert head_of(git_folder(tmp_path, files)) == COMMIT


@pytest.mark.parametrize("files", [{}, {".git/HEAD": "ref: refs/heads/none\n"}], ids=["no checkout", "no commit yet"])
def test_without_a_checkout_there_is_no_commit(tmp_path: Path, files: dict[str, str]) -> None:
    assert head_of(git_folder(tmp_path, files)) == ""


def test_this_checkout_is_at_the_commit_that_git_says() -> None:
    root = Path(__file__).parents[1]
    if not (root / ".git").exists():
        pytest.skip("no checkout")
    said = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)

    assert head_of(root) == said.stdout.strip()
