//! Every page: nothing on the console, and nothing that shuts people out.

use serde_json::json;

use super::axe;
use super::driver::Browser;
use super::pictures::exhibition;

#[test]
fn no_page_complains_on_the_console() {
    let exhibition = exhibition();
    let Some(browser) = Browser::at(&exhibition.place.address) else { return };
    for (name, path) in exhibition.pages() {
        browser.go(&path);
        browser.is_live();
        assert_eq!(browser.complaints(), Vec::<String>::new(), "{name} {path}");
    }
}

#[test]
fn axe_finds_no_serious_violation_on_any_page() {
    let Some(axe) = axe::script() else { return };
    let exhibition = exhibition();
    let Some(browser) = Browser::at(&exhibition.place.address) else { return };
    looked_at(&browser, &exhibition.pages(), "", &axe);
    // What the other light and the small screen change: contrast, and what has to be scrolled.
    browser.dark(true);
    looked_at(&browser, &exhibition.pages(), "{ runOnly: ['color-contrast'] }", &axe);
    browser.size(390, 844);
    let rules = "{ runOnly: ['color-contrast', 'scrollable-region-focusable', 'target-size'] }";
    looked_at(&browser, &exhibition.pages(), rules, &axe);
}

fn looked_at(browser: &Browser, pages: &[(&'static str, String)], rules: &str, axe: &str) {
    for (name, path) in pages {
        browser.go(path);
        browser.js(axe);
        browser.js(&format!(
            "window.found = null; axe.run({rules}).then((all) => {{ window.found = all.violations; }}); return 1"
        ));
        browser.until("window.found");
        let found = browser.js(
            "return window.found.filter((each) => ['serious', 'critical'].includes(each.impact))
               .flatMap((each) => each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`))",
        );
        assert_eq!(found, json!([]), "{name} {path}");
    }
}
