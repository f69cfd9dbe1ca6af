"""A real browser, started headless by the test itself and driven over a pair of pipes (Chrome DevTools Protocol).

`--remote-debugging-pipe`: the browser reads commands from file descriptor 3 and writes answers and events to 4, JSON
ended by a zero byte. No port is opened and no client is needed.
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from needs import missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ANSWER_S = 30.0
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
)  # fmt: skip


class BrowserError(AssertionError):
    """The browser refused a command, threw in a script, or fell silent."""


class Pipe:
    """Commands out, answers and events in."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._rest, self._last = b"", 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """The result of a command; events that come before it are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + ANSWER_S
        while True:
            answer = self._next(deadline)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str) -> dict[str, Any]:
        """The first event of that name that has come or will."""
        deadline = time.monotonic() + ANSWER_S
        while True:
            for event in self.events:
                if event.get("method") == method:
                    return event
            self.events.append(self._next(deadline))

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._in, 1 << 20) if ready else b""
            if not data:
                raise BrowserError("the browser ended" if ready else f"no answer within {ANSWER_S:g} s")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


class Tab:
    """One page and what happened in it."""

    def __init__(self, pipe: Pipe, width: int, height: int) -> None:
        self._pipe = pipe
        target = pipe.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = pipe.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])

    def open(self, page: Path) -> None:
        """Load a file, to the end of its load event."""
        self._pipe.events.clear()
        self._call("Page.navigate", url=page.absolute().as_uri())
        self._pipe.wait_for("Page.loadEventFired")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; what it throws is a BrowserError."""
        answer = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(answer["exceptionDetails"].get("exception", {}).get("description", "thrown"))
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """A press of the mouse in the middle of the first element that matches, which scrolls into view."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key that is no letter: `ArrowDown`, `Enter`, `Tab`, `Escape`."""
        codes = {"ArrowDown": 40, "ArrowUp": 38, "End": 35, "Enter": 13, "Tab": 9, "Escape": 27, "ArrowRight": 39}
        text = {"text": "\r"} if key == "Enter" else {}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        self._call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", **common)

    def media(self, *, scheme: str = "light", kind: str = "screen") -> None:
        """Light or dark, screen or print."""
        self._call(
            "Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def screenshot(self, target: Path | None = None) -> bytes:
        """The window as PNG, also into a file."""
        data = base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])
        if target is not None:
            target.write_bytes(data)
        return data

    def printed(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def complaints(self) -> list[str]:
        """What stood on the console, was thrown, or was refused by the page's policy."""
        found = []
        for event in self._pipe.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"].get("exception", {}).get("description")))
            elif event.get("method") == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled":
                found.append(str([argument.get("value") for argument in parameters["args"]]))
        return found

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self._pipe.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._pipe.call(method, self._session, **parameters)


@contextmanager
def browser(profile: Path) -> Iterator[Pipe]:
    """A browser with an empty profile, ended with all its processes."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("a browser is needed: apt-get install chromium")
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    wrapper = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'  # the numbers that the browser listens on
    arguments = ["bash", "-c", wrapper, "bash", str(commands), str(answers), program, *OPTIONS]
    process = subprocess.Popen(
        [*arguments, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(commands, answers),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(commands)
    os.close(answers)
    try:
        yield Pipe(to_browser, from_browser)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(to_browser)
        os.close(from_browser)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipe]:
    """One browser for a module's tests."""
    with browser(tmp_path_factory.mktemp("chromium")) as pipe:
        yield pipe


@pytest.fixture
def tab(chromium: Pipe) -> Tab:
    """A fresh tab of 1400 by 1000 pixels."""
    return Tab(chromium, 1400, 1000)
