//! The tests' hand on the browser: Chromium behind chromedriver, spoken to as the W3C says.
//!
//! The protocol is one request and one answer in JSON; a library for it would bring more packages than this has lines.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::client::connect;

/// The longest anything on a page may take on a busy machine before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(45);
/// By this name the protocol calls an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";
pub const CONTROL_ENTER: &str = "\u{e009}\u{e007}\u{e000}";
pub const CONTROL_K: &str = "\u{e009}k\u{e000}";

pub struct Browser {
    driver: Child,
    address: String,
    session: String,
    /// What the browser keeps, gone with the test.
    _profile: TempDir,
    /// Where pages are, such as `http://127.0.0.1:5678`.
    pub home: String,
}

impl Browser {
    /// A browser that looks at this server. None where there is none on this machine, which is said aloud; where CI
    /// is true that is a failure.
    pub fn at(server: &str) -> Option<Self> {
        let (driver, address) = started()?;
        let profile = tempfile::tempdir().unwrap();
        let arguments = [
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            // On a busy machine whoever draws may be late, which is no reason to be ended and begun anew.
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

    /// To a page of the server's, or to any other by its whole address.
    pub fn go(&self, path: &str) {
        let url = if path.starts_with('/') { format!("{}{path}", self.home) } else { path.to_owned() };
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// The path of the page it is at.
    pub fn path(&self) -> String {
        let url = self.call("GET", "/url", &Value::Null);
        url.as_str().unwrap().strip_prefix(&self.home).unwrap().to_owned()
    }

    /// Runs a function's body in the page.
    pub fn js(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The value of an expression as soon as it is one that counts as true. The page may change under it.
    pub fn until(&self, expression: &str) -> Value {
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
                // It went to another page meanwhile, which the driver may well call a timeout; the question is the same.
                Err(_) if began.elapsed() < PATIENCE => {}
                Err(error) => panic!("it was never so: {expression}: {error}\n{}", self.text("body")),
            }
        }
    }

    fn find(&self, css: &str) -> String {
        let began = Instant::now();
        loop {
            self.until(&format!("document.querySelector({})", json!(css)));
            match self.try_call("POST", "/element", &json!({ "using": "css selector", "value": css })) {
                Ok(found) => return found[ELEMENT].as_str().unwrap().to_owned(),
                // It was there a moment ago.
                Err(error) if error.contains("no such element") && began.elapsed() < PATIENCE => {}
                Err(error) => panic!("{css} cannot be found: {error}"),
            }
        }
    }

    /// What a person reads there.
    pub fn text(&self, css: &str) -> String {
        let text = self.js(&format!("return document.querySelector({})?.innerText ?? ''", json!(css)));
        text.as_str().unwrap_or_default().to_owned()
    }

    pub fn value(&self, css: &str) -> String {
        self.js(&format!("return document.querySelector({}).value", json!(css))).as_str().unwrap().to_owned()
    }

    /// With the mouse. Where the page moved between aiming and clicking, the click goes elsewhere, and a person would
    /// click again.
    pub fn click(&self, css: &str) {
        let began = Instant::now();
        loop {
            let element = self.find(css);
            // Without JavaScript nothing changes by itself, and nobody could tell.
            self.js(&format!(
                "window.wasHit = null;
                 addEventListener('aim', () => {{ window.wasHit = false; }}, {{ once: true }});
                 dispatchEvent(new Event('aim'));
                 addEventListener('click', (click) => {{ window.wasHit = Boolean(click.target.closest({})); }},
                   {{ capture: true, once: true }});",
                json!(css)
            ));
            match self.try_call("POST", &format!("/element/{element}/click"), &json!({})) {
                // On the page it led to, nobody knows of it any more.
                Ok(_) if self.js("return window.wasHit") != false => return,
                Ok(_) if began.elapsed() < PATIENCE => {}
                // It was drawn anew between finding and clicking it.
                Err(error) if error.contains("stale element") && began.elapsed() < PATIENCE => {}
                missed => panic!("{css} cannot be clicked: {missed:?}"),
            }
        }
    }

    pub fn write(&self, css: &str, text: &str) {
        let element = self.find(css);
        self.call("POST", &format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// Keys, to whatever has the focus.
    pub fn press(&self, keys: &str) {
        let active = self.call("GET", "/element/active", &Value::Null);
        let element = active[ELEMENT].as_str().unwrap();
        self.call("POST", &format!("/element/{element}/value"), &json!({ "text": keys }));
    }

    /// A second tab, which is then the one looked at.
    pub fn tab(&self) -> String {
        let tab = self.call("POST", "/window/new", &json!({ "type": "tab" }));
        let handle = tab["handle"].as_str().unwrap().to_owned();
        self.switch(&handle);
        handle
    }

    pub fn current_tab(&self) -> String {
        self.call("GET", "/window", &Value::Null).as_str().unwrap().to_owned()
    }

    pub fn switch(&self, handle: &str) {
        self.call("POST", "/window", &json!({ "handle": handle }));
    }

    /// A command of the browser's own protocol.
    pub fn command(&self, name: &str, parameters: &Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({ "cmd": name, "params": parameters }))
    }

    /// Runs before the scripts of every page this tab goes to.
    pub fn before_each_page(&self, script: &str) {
        self.command("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }));
    }

    pub fn size(&self, width: u32, height: u32) {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.command("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub fn dark(&self, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
        self.command("Emulation.setEmulatedMedia", &features);
    }

    /// What the pages complained of since this was asked last.
    pub fn console_errors(&self) -> Vec<String> {
        let lines = self.call("POST", "/se/log", &json!({ "type": "browser" }));
        let bad = lines
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| line["level"] != "INFO" && line["level"] != "DEBUG");
        bad.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The picture of what is in sight, as base64 of a PNG.
    pub fn picture(&self) -> String {
        self.call("GET", "/screenshot", &Value::Null).as_str().unwrap().to_owned()
    }

    /// Waits until the page receives events.
    pub fn wait_until_live(&self) {
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

/// chromedriver keeps every connection open, so the length says where the answer ends.
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

/// chromedriver on a port of its own choice.
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
            // It chose a port that is free on IPv6 and in use on IPv4, and gives up; another time it chooses another.
            Err(printed) if printed.contains("port not available") && began.elapsed() < PATIENCE => {}
            Err(printed) => panic!("chromedriver does not start: {printed}"),
        }
    }
}

/// The driver and its address, or what it said instead of starting.
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

/// A test that cannot be made here says so where nobody can overlook it, and fails where it has to run.
pub fn skipped(why: &str) {
    assert_ne!(env::var("CI").as_deref(), Ok("true"), "{why}");
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
