//! Templates against a table of cases: `template_cases.txt` has one on each line.

use std::path::Path;

use baton_taskfile::template::{Host, Template, evaluate, render};
use baton_taskfile::{Map, Value};
use jiff::Zoned;
use jiff::tz::TimeZone;

/// A fixed host.
pub(crate) struct Fixed;

impl Host for Fixed {
    fn env(&self, name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home".to_owned()),
            "USER" => Some("u".to_owned()),
            "WORDS" => Some(" one  two ".to_owned()),
            _ => None,
        }
    }

    fn now(&self) -> Zoned {
        TimeZone::UTC.to_zoned(jiff::civil::date(2024, 2, 29).at(13, 5, 9, 120_000_000)).unwrap_or_default()
    }

    fn random(&self) -> u64 {
        0x0123_4567_89AB_CDEF
    }

    fn working_dir(&self) -> &Path {
        Path::new("/case")
    }

    fn os(&self) -> &'static str {
        "linux"
    }

    fn arch(&self) -> &'static str {
        "amd64"
    }

    fn num_cpu(&self) -> usize {
        4
    }

    fn addresses(&self, name: &str) -> Vec<String> {
        if name == "localhost" { vec!["127.0.0.1".to_owned()] } else { Vec::new() }
    }
}

pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Map {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(crate) fn data() -> Map {
    map([
        ("S", "Hello, World".into()),
        ("E", "".into()),
        ("N", 42.into()),
        ("F", 3.5.into()),
        ("B", true.into()),
        ("BF", false.into()),
        ("L", vec!["c", "a", "b", "a"].into()),
        ("LN", vec![3, 1, 2].into()),
        ("M", map([("k1", "v1".into()), ("k2", 2.into()), ("nest", map([("x", "y".into())]).into())]).into()),
        ("CSV", "a,b,,c".into()),
        ("P", "/usr/local/lib/foo.tar.gz".into()),
        ("JSON", r#"{"a":1,"b":[1,2,{"c":"d"}],"e":null,"f":1.5}"#.into()),
        ("YAML", "a: 1\nb: [x, y]\n".into()),
        ("ML", "line1\nline2\nline3".into()),
        ("SP", "  pad  ".into()),
        ("Q", "it's \"q\" $HOME".into()),
        ("NULLV", Value::Nil),
        ("SH", "one\ntwo".into()),
    ])
}

pub(crate) fn rendered(text: &str) -> String {
    match Template::parse(text).and_then(|template| template.render(&data(), &Fixed)) {
        Ok(text) => text,
        Err(error) => format!("!{error}"),
    }
}

/// Undoes the escapes of the table.
fn unescaped(row: &str) -> String {
    let mut out = String::new();
    let mut chars = row.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('s')) => out.push(' '),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    out
}

#[test]
fn every_case_of_the_table_holds() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for row in include_str!("template_cases.txt").lines() {
        if row.is_empty() || row.starts_with('#') {
            continue;
        }
        let (text, expected) = row.split_once(" =>").unwrap_or_else(|| panic!("no result: {row}"));
        let (text, expected) = (unescaped(text), unescaped(expected.strip_prefix(' ').unwrap_or(expected)));
        rows += 1;
        let seen = rendered(&text);
        if seen != expected {
            wrong.push(format!("{text}\n  expected {expected:?}\n  rendered {seen:?}"));
        }
    }
    assert!(rows > 500, "only {rows} rows were read");
    assert!(wrong.is_empty(), "{} of {rows} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_text_without_actions_is_returned_unchanged() {
    let text = "plain <no value> } { text";
    let shown = render(text, &Map::new(), &Fixed).unwrap();
    assert!(matches!(shown, std::borrow::Cow::Borrowed(same) if std::ptr::eq(same, text)));
    assert_eq!(Template::parse(text).unwrap().render(&Map::new(), &Fixed).unwrap(), text);
}

#[test]
fn a_missing_value_and_its_placeholder_text_print_as_nothing() {
    assert_eq!(rendered("[{{.NOPE}}]"), "[]");
    assert_eq!(rendered(r#"[{{print "<no value>"}}]"#), "[]");
}

#[test]
fn errors_have_line_and_column() {
    let error = Template::parse("a\n b {{.N | upper}}").unwrap().render(&data(), &Fixed).unwrap_err();
    assert_eq!((error.line, error.column), (2, Some(10)));
    assert_eq!(
        error.to_string(),
        "template: :2:10: executing \"\" at <upper>: wrong type for value; expected string; got int"
    );
    let Err(error) = Template::parse("a\n{{.N") else { panic!("it was read") };
    assert_eq!((error.line, error.column), (2, None));
    assert_eq!(error.to_string(), "template: :2: unclosed action");
}

#[test]
fn a_reference_is_a_value_and_not_its_text() {
    let value = |expression: &str| evaluate(expression, &data(), &Fixed).unwrap();
    assert_eq!(value(".L"), vec!["c", "a", "b", "a"].into());
    assert_eq!(value(".M.nest"), map([("x", "y".into())]).into());
    assert_eq!(value(".M.nest.x | upper"), "Y".into());
    assert_eq!(value("index .LN 0"), 3.into());
    assert_eq!(value(r#"splitList "," .CSV"#), vec!["a", "b", "", "c"].into());
    assert!(value("fromJson .JSON").truth());
    assert_eq!(value(".F"), 3.5.into());
    assert_eq!(value(".NOPE"), Value::Nil);
    assert_eq!(value("."), data().into());
    assert_eq!(value("$"), data().into());
    let error = evaluate(".S.x", &data(), &Fixed).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"template: resolver:1:4: executing "resolver" at <.S.x>: can't evaluate field x in type interface {}"#
    );
}

#[test]
fn a_value_displays_as_go_prints_it() {
    let value = Value::List(vec![
        Value::Nil,
        true.into(),
        42.into(),
        1e21.into(),
        0.5.into(),
        "a b".into(),
        map([("z", 1.into()), ("a", Value::List(vec![]))]).into(),
    ]);
    assert_eq!(value.display(), "[<nil> true 42 1e+21 0.5 a b map[a:[] z:1]]");
}

#[test]
fn changes_to_a_map_are_visible_to_later_reads() {
    assert_eq!(rendered(r#"{{$_ := set .M "k" 1}}{{.M.k}}{{$.M.k}}{{(index $ "M").k}}"#), "111");
    assert_eq!(rendered(r#"{{$_ := unset .M "k1"}}{{hasKey .M "k1"}}"#), "false");
    assert_eq!(rendered(r#"{{$a := dict}}{{$b := $a}}{{$_ := set $a "x" 1}}{{$b}}"#), "map[x:1]");
    let before = data();
    let template = Template::parse(r#"{{set .M "k" 1}}"#).unwrap();
    template.render(&before, &Fixed).unwrap();
    assert_eq!(before, data(), "the data itself is never changed");
}

#[test]
fn machine_facts_come_from_the_host() {
    assert_eq!(rendered("{{OS}}/{{ARCH}}/{{numCPU}}"), "linux/amd64/4");
    assert_eq!(rendered(r#"{{env "USER"}} {{env "NOPE"}}|{{expandenv "$USER-${HOME}"}}"#), "u |u-/home");
    assert_eq!(rendered(r#"{{absPath "x/../y"}} {{absPath "/z/"}}"#), "/case/y /z");
    assert_eq!(rendered(r#"{{splitArgs "a$WORDS$NOPE\"$WORDS\""}}"#), "[a one two  one  two ]");
    assert_eq!(rendered(r#"{{getHostByName "localhost"}}"#), "127.0.0.1");
    assert_eq!(rendered("{{uuid}}"), "01234567-89ab-4def-8123-456789abcdef");
    assert_eq!(rendered("{{randIntN 10}} {{randInt 5 6}}"), "5 5");
}
