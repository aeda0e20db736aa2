//! The style sheet, scripts and icons, embedded in the binary. Their paths contain a digest of their contents, so browsers
//! cache them until the binary changes.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};

use crate::http::error::ApiError;

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal: $kind:expr),* $(,)?) => {
        [$(Asset { name: $name, kind: $kind, bytes: include_bytes!(concat!("../../../assets/", $name)) }),*]
    };
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const MANIFEST: &str = "application/manifest+json";

static ALL: &[Asset] = &assets! {
    "baton.css": STYLE,
    "app.js": SCRIPT,
    "ages.js": SCRIPT,
    "ansi.js": SCRIPT,
    "bulk.js": SCRIPT,
    "comments.js": SCRIPT,
    "dialogs.js": SCRIPT,
    "drafts.js": SCRIPT,
    "filter.js": SCRIPT,
    "forms.js": SCRIPT,
    "keys.js": SCRIPT,
    "live.js": SCRIPT,
    "log.js": SCRIPT,
    "morph.js": SCRIPT,
    "notices.js": SCRIPT,
    "palette.js": SCRIPT,
    "plan.js": SCRIPT,
    "stream.js": SCRIPT,
    "review.js": SCRIPT,
    "theme.js": SCRIPT,
    "thread.js": SCRIPT,
    "undo.js": SCRIPT,
    "voice.js": SCRIPT,
    "manifest.webmanifest": MANIFEST,
    "icon-192.png": "image/png",
    "icon-512.png": "image/png",
};

/// One digest for all: scripts import each other by plain name, so they must change together.
static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let fold = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = ALL.iter().flat_map(|asset| asset.bytes).fold(0xcbf2_9ce4_8422_2325, fold);
    format!("{sum:016x}")
});

/// The path of an asset.
pub(crate) fn address(name: &str) -> String {
    format!("/assets/{}/{name}", *DIGEST)
}

/// A path with another version's digest gets the current asset, uncached.
pub(crate) async fn serve(Path((digest, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ALL.iter().find(|asset| asset.name == name) else {
        return ApiError::not_found("no such asset", "reload the page").into_response();
    };
    let keep = if digest == *DIGEST { "public, max-age=31536000, immutable" } else { "no-store" };
    let headers = [(CONTENT_TYPE, asset.kind), (CACHE_CONTROL, keep), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (headers, asset.bytes).into_response()
}

/// The favicon with the number of pending questions.
pub(crate) async fn badge(Path(name): Path<String>) -> Response {
    let count: u32 = name.strip_suffix(".svg").and_then(|count| count.parse().ok()).unwrap_or(0);
    let headers = [(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, "public, max-age=86400")];
    (headers, icon(count)).into_response()
}

fn icon(count: u32) -> String {
    let badge = if count == 0 { String::new() } else { dot(count) };
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#2f5fd0"/><path d="M14 46 A26 26 0 0 1 46 14" fill="none" stroke="#fff" stroke-opacity=".45" stroke-width="4" stroke-linecap="round"/><path d="M18 50 L48 20" stroke="#fff" stroke-width="7" stroke-linecap="round"/><circle cx="18" cy="50" r="7" fill="#fff"/>{badge}</svg>"##
    )
}

fn dot(count: u32) -> String {
    let text = count.min(99).to_string();
    let size = if text.len() > 1 { 26 } else { 32 };
    let y = 44 + size * 36 / 100;
    format!(
        r##"<circle cx="44" cy="44" r="20" fill="#c2410c"/><text x="44" y="{y}" font-family="sans-serif" font-weight="700" font-size="{size}" fill="#fff" text-anchor="middle">{text}</text>"##
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_import_only_existing_scripts() {
        for asset in ALL.iter().filter(|asset| asset.kind == SCRIPT) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            for line in text.lines().filter(|line| line.starts_with("import ")) {
                let name = line.split('"').nth(1).and_then(|path| path.strip_prefix("./")).unwrap_or(line);
                assert!(ALL.iter().any(|other| other.name == name), "{}: {line}", asset.name);
            }
        }
    }
}
