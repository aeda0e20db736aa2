//! Markdown of agents and people as HTML. It is hostile input: nothing in it may run, load or post.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, Options, Parser, TagEnd, html};

/// Longer texts are truncated.
const RENDERED_BYTES_MAX: usize = 256 * 1024;

/// Renders and sanitizes Markdown.
pub(crate) fn markdown(text: &str) -> Markup {
    let end =
        (0..=RENDERED_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // Line breaks are kept; HTML is shown as text.
    let events = Parser::new_ext(&text[..end], options).map(|event| match event {
        Event::SoftBreak => Event::HardBreak,
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        other => other,
    });
    let mut rendered = String::new();
    html::push_html(&mut rendered, events);
    PreEscaped(sanitize(&rendered))
}

/// Markdown as plain text.
pub(crate) fn plain(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for event in Parser::new(text) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                words.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak => words.push('\n'),
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::CodeBlock) => {
                words.push('\n');
            }
            _ => {}
        }
    }
    words.trim_end().to_owned()
}

/// No images, which would load from elsewhere, and no ids, which would collide with ours.
fn sanitize(html: &str) -> String {
    ammonia::Builder::default()
        .rm_tags(["img", "map", "area", "figure", "figcaption"])
        .url_schemes(["http", "https", "mailto"].into())
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .generic_attributes([].into())
        .clean(html)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_rendered() {
        let html = markdown("# A\n\nfirst\nsecond `code` **bold**\n\n- one\n- two").0;
        assert!(html.contains("<h1>A</h1>"), "{html}");
        assert!(html.contains("first<br>\nsecond <code>code</code> <strong>bold</strong>"), "{html}");
        assert!(html.contains("<li>one</li>"), "{html}");
    }

    #[test]
    fn plain_text_has_no_markup() {
        assert_eq!(
            plain("Should it be **formal** or `casual`?\n\n- one\n- two"),
            "Should it be formal or casual?\none\ntwo"
        );
        assert_eq!(plain("a < b & <b>c</b>"), "a < b & <b>c</b>");
    }

    #[test]
    fn hostile_markdown_is_harmless() {
        let hostile = [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "![x](http://evil.example/pixel.png)",
            "[x](javascript:alert(1))",
            "[x](data:text/html,<script>alert(1)</script>)",
            "<a href=\"JaVaScRiPt:alert(1)\">x</a>",
            "<form action=http://evil.example><button>go</button></form>",
            "<iframe src=http://evil.example></iframe>",
            "<svg onload=alert(1)>",
            "<div style=\"position:fixed;inset:0\" id=main>over everything</div>",
            "<base href=http://evil.example>",
            "```html\n</code></pre><script>alert(1)</script>\n```",
            "[x](/tasks/TASK-00000001/do/cancel)",
        ];
        for text in hostile {
            let html = markdown(text).0.to_lowercase();
            let tags: Vec<&str> = html.split('<').skip(1).collect();
            for bad in ["script", "img", "form", "iframe", "svg", "base", "div", "button"] {
                assert!(!tags.iter().any(|tag| tag.starts_with(bad)), "{text} became {html}");
            }
            for tag in tags {
                let tag = tag.split('>').next().unwrap_or_default();
                for bad in ["javascript:", "data:", "onerror", "onload", "style=", "id=", "href=\"/"] {
                    assert!(!tag.contains(bad), "{text} became {html}");
                }
            }
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert!(markdown(&"ä".repeat(RENDERED_BYTES_MAX)).0.len() < 2 * RENDERED_BYTES_MAX);
    }
}
