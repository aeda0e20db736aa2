//! Markdown of agents and people as HTML. It is hostile input: nothing in it may run, load or post.

use maud::{Markup, PreEscaped, html as page};
use pulldown_cmark::{Event, Options, Parser, TagEnd, html};

/// How many quotes and lists a line may open. Laying out deeper ones takes time that grows with the square of the depth.
const CONTAINERS_MAX: usize = 50;
/// Longer texts are truncated.
const RENDERED_BYTES_MAX: usize = 256 * 1024;

/// Renders and sanitizes Markdown. Text that is nested too deep is shown as it is.
pub(crate) fn markdown(text: &str) -> Markup {
    let end =
        (0..=RENDERED_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = &text[..end];
    if is_too_deep(text) {
        return page! { pre { (text) } };
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // Line breaks are kept; HTML is shown as text.
    let events = Parser::new_ext(text, options).map(|event| match event {
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
    if is_too_deep(text) {
        return text.trim_end().to_owned();
    }
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

/// Whether a line begins with more marks of quotes and list items than a person would write.
fn is_too_deep(text: &str) -> bool {
    text.lines().any(|line| {
        let marks = line.split([' ', '\t']).map_while(container_marks);
        marks.sum::<usize>() > CONTAINERS_MAX
    })
}

/// How many containers a word at the beginning of a line opens; none for a word of the text.
fn container_marks(word: &str) -> Option<usize> {
    let rest = word.trim_start_matches('>');
    let quotes = word.len() - rest.len();
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest {
        "" => Some(quotes),
        "-" | "+" | "*" => Some(quotes + 1),
        _ if number.len() < rest.len() && matches!(number, "." | ")") => Some(quotes + 1),
        // Quotes before the first word count, too.
        _ if quotes > CONTAINERS_MAX => Some(quotes),
        _ => None,
    }
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
    fn text_that_is_nested_too_deep_is_shown_as_it_is() {
        for deep in [
            ">".repeat(100_000),
            "> ".repeat(60),
            "- ".repeat(60),
            "1. ".repeat(60),
            format!("{}x", ">".repeat(60)),
        ] {
            let html = markdown(&deep).0;
            assert!(html.starts_with("<pre>") && !html.contains("<blockquote>"), "{html:.80}");
            assert_eq!(plain(&deep), deep.trim_end());
        }
        for shallow in ["> a\n> > b", "- one\n  - two", "1. x\n2) y", "---", "a > b"] {
            assert!(!markdown(shallow).0.starts_with("<pre>"), "{shallow}");
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        assert!(markdown(&"ä".repeat(RENDERED_BYTES_MAX)).0.len() < 2 * RENDERED_BYTES_MAX);
    }
}
