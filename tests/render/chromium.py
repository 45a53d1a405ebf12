"""Pages in headless Chromium, driven through --remote-debugging-pipe: JSON messages, each ended by a NUL byte, on descriptors 3 and 4."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Chromium's program, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One Chromium with a profile of its own, for several pages."""

    def __init__(self, program, width=1600, height=1000):
        self.width, self.height = width, height
        self.profile = tempfile.mkdtemp(prefix="adpipe_chromium_")
        command_in, command_out = os.pipe()
        answer_in, answer_out = os.pipe()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
                     f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "about:blank"]
        script = f'exec "$@" 3<&{command_in} 4>&{answer_out}'
        self.process = subprocess.Popen(["bash", "-c", script, "chromium", program, *arguments], pass_fds=(command_in, answer_out),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_in)
        os.close(answer_out)
        self.commands, self.answers = command_out, answer_in
        self.buffer, self.count, self.events = b"", 0, []

    def close(self):
        try:
            self.call(None, "Browser.close")
        except (OSError, EOFError):
            pass
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise EOFError("Chromium is gone")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, session, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        number = self.count
        while True:
            answer = self.receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)


class Page:
    """A page that has loaded `url`. `before` is JavaScript that runs before the page's own."""

    def __init__(self, browser, url, dark=False, before=""):
        self.browser = browser
        self.session = None
        self.target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=browser.width, height=browser.height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if before:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.call("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events()):
            browser.events.append(browser.receive())

    def close(self):
        session, self.session = self.session, None
        self.call("Target.closeTarget", targetId=self.target)
        self.session = session

    def call(self, method, **parameters):
        return self.browser.call(self.session, method, **parameters)

    def events(self):
        return [event for event in self.browser.events if event.get("sessionId") == self.session and "method" in event]

    def js(self, expression):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:1000])
        return answer["result"].get("value")

    def middle(self, selector):
        return self.js(f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); "
                       "return [r.x + r.width / 2, r.y + r.height / 2]; })()")

    def click(self, selector):
        """A click with the mouse on the middle of the first element of that kind."""
        x, y = self.middle(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def point(self, selector):
        """The mouse over the middle of the first element of that kind."""
        x, y = self.middle(selector)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, button="none")

    def paste(self):
        """What the clipboard holds, where the focus is."""
        self.call("Input.dispatchKeyEvent", type="keyDown", key="v", modifiers=2, commands=["paste"])
        self.call("Input.dispatchKeyEvent", type="keyUp", key="v", modifiers=2)

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        for character in text:
            self.press(character)

    def screenshot(self, file):
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def problems(self):
        """What the console shows: errors, warnings, exceptions, refused loads."""
        return [json.dumps(event["params"])[:500] for event in self.events()
                if event["method"] in ("Runtime.exceptionThrown", "Log.entryAdded") or
                (event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning"))]
