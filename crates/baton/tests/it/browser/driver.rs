//! Drives Chromium through chromedriver and the W3C `WebDriver` protocol.
//!
//! The protocol is one request and one response in JSON; a library for it would add many dependencies.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::client::connect;

/// The longest anything on a page may take on a busy machine before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(100);
/// The protocol's key for an element id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const ESCAPE: &str = "\u{e00c}";
pub(crate) const CONTROL_ENTER: &str = "\u{e009}\u{e007}\u{e000}";
pub(crate) const CONTROL_K: &str = "\u{e009}k\u{e000}";

pub(crate) struct Browser {
    driver: Child,
    address: String,
    session: String,
    /// The browser's profile, removed after the test.
    _profile: TempDir,
    /// The URL of the server, such as `http://127.0.0.1:5678`.
    pub(crate) home: String,
}

impl Browser {
    /// A browser for this server. None, with a message, if no browser is installed; with `CI=true` that is a failure.
    pub(crate) fn at(server: &str) -> Option<Self> {
        let (driver, address) = started()?;
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            // On a busy machine the GPU process may be slow and must not be restarted.
            "--disable-gpu-watchdog".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--disable-background-timer-throttling".to_owned(),
            "--disable-renderer-backgrounding".to_owned(),
            "--no-first-run".to_owned(),
            "--window-size=1280,900".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
        ];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "args": arguments },
            "timeouts": { "script": PATIENCE.as_millis(), "pageLoad": PATIENCE.as_millis() },
        }}});
        let opened = call(&address, "POST", "/session", &wanted).unwrap();
        let session = opened["sessionId"].as_str().unwrap().to_owned();
        Some(Self { driver, address, session, _profile: profile, home: format!("http://{server}") })
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_call(method, path, body).unwrap_or_else(|error| panic!("{method} {path} {body}: {error}"))
    }

    fn try_call(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        call(&self.address, method, &format!("/session/{}{path}", self.session), body)
    }

    /// Opens a path of the server, or a whole URL.
    pub(crate) fn go(&self, path: &str) {
        let url = if path.starts_with('/') { format!("{}{path}", self.home) } else { path.to_owned() };
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// The path of the current page.
    pub(crate) fn path(&self) -> String {
        let url = self.call("GET", "/url", &Value::Null);
        url.as_str().unwrap().strip_prefix(&self.home).unwrap().to_owned()
    }

    /// Runs the body of a function in the page.
    pub(crate) fn js(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until the expression is truthy and returns its value. The page may change meanwhile.
    pub(crate) fn until(&self, expression: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             const look = () => {{
               let value = null;
               try {{ value = {expression}; }} catch {{ }}
               if (value) done(value); else setTimeout(look, 15);
             }};
             look();"
        );
        let began = Instant::now();
        loop {
            match self.try_call("POST", "/execute/async", &json!({ "script": script, "args": [] })) {
                Ok(value) => return value,
                // The page was left meanwhile, which the driver may report as a timeout: ask again.
                Err(_) if began.elapsed() < PATIENCE => {}
                Err(error) => {
                    panic!("the condition was never true: {expression}: {error}\n{}", self.text("body"))
                }
            }
        }
    }

    fn find(&self, css: &str) -> String {
        let began = Instant::now();
        loop {
            self.until(&format!("document.querySelector({})", json!(css)));
            match self.try_call("POST", "/element", &json!({ "using": "css selector", "value": css })) {
                Ok(found) => return found[ELEMENT].as_str().unwrap().to_owned(),
                // It was removed between the two calls.
                Err(error) if error.contains("no such element") && began.elapsed() < PATIENCE => {}
                Err(error) => panic!("{css} cannot be found: {error}"),
            }
        }
    }

    /// The visible text.
    pub(crate) fn text(&self, css: &str) -> String {
        let text = self.js(&format!("return document.querySelector({})?.innerText ?? ''", json!(css)));
        text.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn value(&self, css: &str) -> String {
        self.js(&format!("return document.querySelector({}).value", json!(css))).as_str().unwrap().to_owned()
    }

    /// Clicks with the mouse, again if the page moved and the click missed.
    pub(crate) fn click(&self, css: &str) {
        let began = Instant::now();
        loop {
            let element = self.find(css);
            // Without JavaScript this does nothing, and the page does not move either.
            self.js(&format!(
                "window.wasHit = null;
                 addEventListener('aim', () => {{ window.wasHit = false; }}, {{ once: true }});
                 dispatchEvent(new Event('aim'));
                 addEventListener('click', (click) => {{ window.wasHit = Boolean(click.target.closest({})); }},
                   {{ capture: true, once: true }});",
                json!(css)
            ));
            match self.try_call("POST", &format!("/element/{element}/click"), &json!({})) {
                // Undefined on the page that the click opened.
                Ok(_) if self.js("return window.wasHit") != false => return,
                Ok(_) if began.elapsed() < PATIENCE => {}
                // It was replaced between finding and clicking it, or something passes over it.
                Err(error) if is_moving(&error) && began.elapsed() < PATIENCE => {}
                missed => panic!("{css} cannot be clicked: {missed:?}"),
            }
        }
    }

    pub(crate) fn write(&self, css: &str, text: &str) {
        let began = Instant::now();
        loop {
            let element = self.find(css);
            match self.try_call("POST", &format!("/element/{element}/value"), &json!({ "text": text })) {
                Ok(_) => return,
                // It was replaced between finding it and writing, so nothing was written.
                Err(error) if is_moving(&error) && began.elapsed() < PATIENCE => {}
                Err(error) => panic!("{css} cannot be written to: {error}"),
            }
        }
    }

    /// Sends keys to the focused element.
    pub(crate) fn press(&self, keys: &str) {
        let began = Instant::now();
        loop {
            let active = self.call("GET", "/element/active", &Value::Null);
            let element = active[ELEMENT].as_str().unwrap();
            match self.try_call("POST", &format!("/element/{element}/value"), &json!({ "text": keys })) {
                Ok(_) => return,
                // It was replaced between finding it and typing, so nothing was typed.
                Err(error) if error.contains("stale element") && began.elapsed() < PATIENCE => {}
                Err(error) => panic!("{keys:?} cannot be typed: {error}"),
            }
        }
    }

    /// Opens a tab and switches to it.
    pub(crate) fn tab(&self) -> String {
        let tab = self.call("POST", "/window/new", &json!({ "type": "tab" }));
        let handle = tab["handle"].as_str().unwrap().to_owned();
        self.switch(&handle);
        handle
    }

    pub(crate) fn current_tab(&self) -> String {
        self.call("GET", "/window", &Value::Null).as_str().unwrap().to_owned()
    }

    pub(crate) fn switch(&self, handle: &str) {
        self.call("POST", "/window", &json!({ "handle": handle }));
    }

    /// A command of the Chrome `DevTools` Protocol.
    pub(crate) fn command(&self, name: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({ "cmd": name, "params": parameters }))
    }

    /// Adds a script that runs before those of every page in this tab.
    pub(crate) fn before_each_page(&self, script: &str) {
        self.command("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
    }

    pub(crate) fn size(&self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.command("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub(crate) fn dark(&self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.command("Emulation.setEmulatedMedia", &features);
    }

    /// Warnings and errors on the console since the last call.
    pub(crate) fn console_errors(&self) -> Vec<String> {
        let lines = self.call("POST", "/se/log", &json!({ "type": "browser" }));
        let bad = lines
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG");
        bad.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// A screenshot of the viewport, as a PNG in base64.
    pub(crate) fn picture(&self) -> String {
        self.call("GET", "/screenshot", &Value::Null).as_str().unwrap().to_owned()
    }

    /// Waits until the page receives events.
    pub(crate) fn wait_until_live(&self) {
        self.until("document.getElementById('line')?.textContent === 'live'");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.try_call("DELETE", "", &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn call(address: &str, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let text = if method == "POST" { body.to_string() } else { String::new() };
    let mut stream = connect(address);
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
        text.len()
    )
    .unwrap();
    let (status, body) = answered(&mut BufReader::new(stream));
    let mut object: Value = serde_json::from_str(&body).map_err(|error| format!("{error}: {body}"))?;
    if status == 200 { Ok(object["value"].take()) } else { Err(object["value"].to_string()) }
}

/// Whether the page was changing under the pointer or the keys.
fn is_moving(error: &str) -> bool {
    ["stale element", "element click intercepted", "element not interactable"]
        .iter()
        .any(|kind| error.contains(kind))
}

/// chromedriver keeps connections open, so the length says where the response ends.
fn answered(stream: &mut impl BufRead) -> (u16, String) {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap().parse().unwrap();
    let mut length = 0;
    while line != "\r\n" {
        line.clear();
        stream.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (status, String::from_utf8(body).unwrap())
}

/// chromedriver on a free port.
fn started() -> Option<(Child, String)> {
    let is_here = |program: &str| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    if !is_here("chromedriver") || !is_here("chromium") {
        skipped(
            "chromium or chromedriver is missing: scripts/test installs them, or apt-get install chromium chromium-driver",
        );
        return None;
    }
    let began = Instant::now();
    loop {
        match start() {
            Ok(started) => return Some(started),
            // It chose a port that is free on IPv6 and in use on IPv4: try again.
            Err(printed) if printed.contains("port not available") && began.elapsed() < PATIENCE => {}
            Err(printed) => panic!("chromedriver does not start: {printed}"),
        }
    }
}

/// The driver and its address, or its output if it did not start.
fn start() -> Result<(Child, String), String> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut printed = Vec::new();
    for line in BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok) {
        if line.contains("started successfully on port") {
            let port = line.trim_end_matches('.').rsplit(' ').next().unwrap();
            return Ok((driver, format!("127.0.0.1:{port}")));
        }
        printed.push(line);
    }
    driver.wait().unwrap();
    Err(printed.join("\n"))
}

/// Reports a test that cannot run here; with `CI=true` it fails.
pub(crate) fn skipped(why: &str) {
    assert_ne!(env::var("CI").as_deref(), Ok("true"), "{why}");
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
