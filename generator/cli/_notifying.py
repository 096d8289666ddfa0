"""How an alarm is sent: by a command of the operator's, or to a URL; neither may keep anything waiting."""

import json
import os
import shlex
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from generator.operate.setup.plan import DOCS
from generator.operate.watch.alerts import Message
from generator.site.resources import Resources

SEND_S: Final = 15.0
COMMAND: Final = "EMI_ALERT_CMD"
URL: Final = "EMI_PING_URL"
# What the command must not have: whose watchdog it would feed.
NOT_ITS_OWN: Final = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


def runbook() -> Path:
    """Return the runbook that is on this machine: where `emi setup` put it, else the program's own copy."""
    here = Path(DOCS) / "runbook.md"
    return here if here.is_file() else Resources.locate().howto / "runbook.md"


class Notifier:
    """Tell by every way that is set.

    Args:
        command: run with the message on its standard input, without a shell; empty for none.
        ping_url: asked as it is while all is well, and as `fault_url` for a fault; None for none.
        within_s: how long either may take; then the command is killed. What took too long is not tried again: several
            faults that begin together must not add up to more than a look has.
    """

    def __init__(self, command: str, ping_url: str | None, within_s: float = SEND_S) -> None:
        self._command = shlex.split(command)
        self._ping_url = ping_url
        self._within_s = within_s
        self._too_slow: dict[str, str] = {}

    @property
    def ways(self) -> int:
        """How many ways there are to tell somebody."""
        return sum(map(bool, (self._command, self._ping_url)))

    def send(self, message: Message) -> list[str]:
        """Tell by every way; return why each that failed did so, nothing when all took it."""
        content = json.dumps(message.content(str(runbook()))).encode() + b"\n"
        problems = []
        if self._command:
            problems.append(self._too_slow.get(COMMAND) or self._run(content))
        if self._ping_url and message.event != "end":
            problems.append(self._ask(fault_url(self._ping_url), content))
        return [problem for problem in problems if problem]

    def ping(self) -> str | None:
        """Say that all is well; return why that could not be said."""
        return self._ask(self._ping_url, None) if self._ping_url else None

    def _run(self, content: bytes) -> str | None:
        environment = {name: value for name, value in os.environ.items() if name not in NOT_ITS_OWN}
        try:
            process = subprocess.Popen(  # noqa: S603  the operator's own words
                self._command, stdin=subprocess.PIPE, env=environment, start_new_session=True
            )
        except OSError as error:
            return f"{COMMAND} cannot be run: {error.strerror}"

        # It may have started others: at the end of its time the whole group goes.
        try:
            process.communicate(content, timeout=self._within_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with what it started
            process.wait()
            self._too_slow[COMMAND] = f"{COMMAND} took more than {self._within_s:g} s and was killed"
            return self._too_slow[COMMAND]
        except OSError:
            process.wait()  # it reads nothing, which is its right
        return f"{COMMAND} ended with code {process.returncode}" if process.returncode else None

    def _ask(self, url: str, content: bytes | None) -> str | None:
        if URL in self._too_slow:
            return self._too_slow[URL]

        # In a thread that is not waited for past its time: a name may take minutes to be looked up.
        faults: list[str | None] = []
        asking = threading.Thread(target=lambda: faults.append(_request(url, content, self._within_s)), daemon=True)
        asking.start()
        asking.join(self._within_s)
        if faults:
            return faults[0]

        # Not asked again: each question would leave another thread behind.
        self._too_slow[URL] = f"{URL} does not answer within {self._within_s:g} s"
        return self._too_slow[URL]


def fault_url(ping_url: str) -> str:
    """Return where a fault is reported: `/fail` behind the path; where the query says `status=up`, `status=down` in it.

    >>> fault_url("https://hc.example/ping/abc?rid=5")
    'https://hc.example/ping/abc/fail?rid=5'
    >>> fault_url("https://kuma.example/api/push/abc?status=up&msg=OK&ping=")
    'https://kuma.example/api/push/abc?status=down&msg=fault&ping='
    """
    parts = urlsplit(ping_url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    if ("status", "up") not in pairs:
        return parts._replace(path=parts.path.rstrip("/") + "/fail").geturl()

    replaced = {"status": "down", "msg": "fault"}
    return parts._replace(query=urlencode([(name, replaced.get(name, value)) for name, value in pairs])).geturl()


def _request(url: str, content: bytes | None, timeout_s: float) -> str | None:
    headers: Mapping[str, str] = {"User-Agent": "emi", "Content-Type": "application/json"}
    request = urllib.request.Request(url, content, headers)  # noqa: S310  http or https, by the settings

    try:
        with urllib.request.urlopen(request, timeout=timeout_s):  # noqa: S310  as above
            return None
    except urllib.error.HTTPError as error:
        with error:
            return f"{URL} answers {error.code}"
    except (OSError, ValueError, HTTPException) as error:
        return f"{URL} does not answer: {getattr(error, 'reason', error)}"
