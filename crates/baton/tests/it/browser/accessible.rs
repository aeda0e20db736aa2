//! Every page: no errors on the console, no serious accessibility violations, and not much to load.

use serde_json::json;

use super::axe;
use super::driver::Browser;
use super::showcase::showcase;

/// What the dark theme changes.
const DARK: &str = "{ runOnly: ['color-contrast'] }";
/// What a small screen changes.
const SMALL: &str = "{ runOnly: ['color-contrast', 'scrollable-region-focusable', 'target-size'] }";

/// What a page may weigh, with its scripts and its style sheet.
const PAGE_BYTES_MAX: f64 = 150_000.0;

/// Each page is opened once and checked in both themes and on both screens.
#[test]
fn no_page_logs_an_error_and_axe_finds_no_serious_violation() {
    let showcase = showcase();
    let Some(browser) = Browser::at(&showcase.server.address) else { return };
    let axe = axe::script();
    for (name, path) in showcase.pages() {
        browser.size(1280, 860);
        browser.dark(false);
        browser.go(&path);
        browser.wait_until_live();
        assert_eq!(browser.console_errors(), Vec::<String>::new(), "{name} {path}");
        check_weight(&browser, name);
        let Some(axe) = &axe else { continue };
        // Collapsed parts are checked, too.
        browser.js(&format!(
            "{axe}; document.querySelectorAll('details').forEach((each) => {{ each.open = true; }}); return 1"
        ));
        check_with_axe(&browser, name, "{}");
        browser.dark(true);
        check_with_axe(&browser, name, DARK);
        browser.size(390, 844);
        check_with_axe(&browser, name, SMALL);
    }
    if let Some(axe) = axe {
        sheets(&browser, &axe);
    }
}

/// All that a first visit loads, as it is sent.
fn check_weight(browser: &Browser, name: &str) {
    let bytes = browser
        .js("return performance.getEntries().reduce((sum, each) => sum + (each.encodedBodySize ?? 0), 0)");
    assert!(bytes.as_f64().unwrap() <= PAGE_BYTES_MAX, "{name} weighs {bytes} bytes");
}

/// The dialogs of a page.
fn sheets(browser: &Browser, axe: &str) {
    browser.size(1280, 860);
    browser.go("/board");
    browser.wait_until_live();
    browser.js(&format!("{axe}; return 1"));
    for sheet in ["keys", "palette"] {
        browser.click(&format!("#foot [data-do={sheet}]"));
        browser.until(&format!("document.querySelector('#{sheet}[open]')"));
        check_with_axe(browser, sheet, "{}");
        browser.js(&format!("document.getElementById('{sheet}').close(); return 1"));
    }
}

/// Waits for animations first: the contrast of a half-transparent element does not count.
fn check_with_axe(browser: &Browser, name: &str, rules: &str) {
    browser.until(
        "document.getAnimations().every((each) => {
           return each.playState === 'finished' || each.effect.getComputedTiming().endTime === Infinity;
         })",
    );
    browser.js(&format!(
        "window.found = null; axe.run({rules}).then((all) => {{
           window.found = all.violations.filter((each) => ['serious', 'critical'].includes(each.impact))
             .flatMap((each) => each.nodes.map((node) => `${{each.id}}: ${{node.html.slice(0, 160)}} ${{node.failureSummary}}`));
         }}); return 1"
    ));
    assert_eq!(browser.until("window.found"), json!([]), "{name} {rules}");
}
