"""A headless Chromium, driven by the DevTools protocol over a pipe; needs nothing but Python."""

import base64
import json
import os
import shutil
import subprocess
import tempfile


def find_chromium():
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


class Browser:
    """One page of the browser. `problems` are its uncaught exceptions, console errors and requests that leave the
    disk.
    """

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        def pass_pipes():  # Chromium reads from 3 and writes to 4
            saved_read, saved_write = os.dup(to_read), os.dup(to_write)
            os.dup2(saved_read, 3)
            os.dup2(saved_write, 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            preexec_fn=pass_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.problems, self.loaded, self.session = b"", 0, [], False, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _message(self):
        while b"\0" not in self.buffer:
            block = os.read(self.into, 1 << 16)
            if not block:
                raise RuntimeError("chromium has ended")
            self.buffer += block
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, event):
        method, values = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self.loaded = True
        bad = (method == "Runtime.exceptionThrown"
               or method == "Runtime.consoleAPICalled" and values["type"] == "error"
               or method == "Log.entryAdded" and values["entry"]["level"] == "error"
               or method == "Network.requestWillBeSent"
               and not values["request"]["url"].startswith(("file:", "data:", "about:")))
        if bad:
            self.problems.append(json.dumps(values)[:500])

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def open(self, path):
        self.loaded = False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not self.loaded:
            self._note(self._message())
        self.evaluate("typeof pageReady === 'undefined' || pageReady.then(() => true)")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def press(self, key, code):
        text = "\r" if key == "Enter" else ""
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, path, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        height = self.evaluate("new Promise((done) => setTimeout(() => done(document.body.scrollHeight), 600))")
        # Makes the window as tall as the page. If the capture went beyond the viewport, it would resize it and show
        # charts before they redraw.
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.evaluate("new Promise((done) => setTimeout(done, 600))")
        picture = self.call("Page.captureScreenshot")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def close(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
