//! Any file parses or fails cleanly.

use baton_taskfile::Taskfile;
use baton_taskfile::ast::TaskfileAst;
use baton_taskfile::yaml;
use proptest::prelude::*;

use crate::project::Project;

/// Random combinations of Taskfile and YAML fragments.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "version: '3'",
        "tasks:",
        "  a:",
        "    cmds:",
        "- echo",
        "{",
        "}",
        "[",
        "]",
        ": ",
        "\n",
        "  ",
        "&x ",
        "*x",
        "<<: ",
        "!!str ",
        "'",
        "\"",
        "|\n",
        ">\n",
        "---\n",
        "for: ",
        "vars: ",
        "sh: ",
        "deps: [b]",
        "~",
        "0x1f",
        "1e9",
        "\t",
        "#",
        "?",
        "{{.X}}",
        "includes: {x: ./y}",
        "requires: {vars: [A]}",
        "é",
        "\u{0}",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn decode(text: &str) {
    if let Ok(root) = yaml::parse(text) {
        let _ = TaskfileAst::decode(root.as_ref(), "Taskfile.yml");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_parses_or_fails(text in any::<String>()) {
        decode(&text);
    }

    #[test]
    fn any_taskfile_fragments_parse_or_fail(text in pieces()) {
        decode(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_opens_and_lists_or_fails(text in pieces()) {
        let project = Project::of(&format!("version: '3'\n{text}"));
        if let Ok(taskfile) = Taskfile::open(project.path(), "Taskfile.yml".as_ref()) {
            let _ = taskfile.list(true);
        }
    }
}

#[test]
fn deep_nesting_is_rejected() {
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let text = format!("{}{}", open.repeat(5000), close.repeat(5000));
        assert!(yaml::parse(&text).is_err());
    }
    let mut block = String::new();
    for depth in 0..2000 {
        block.extend([&" ".repeat(depth), "a:\n"]);
    }
    assert!(yaml::parse(&block).unwrap_err().to_string().contains("levels deep"));
}

#[test]
fn nested_aliases_are_bounded() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        text.extend([format!("a{level}: &a{level} [{}]\n", vec![before; 9].join(", "))]);
    }
    assert_eq!(yaml::parse(&text).unwrap_err().to_string(), "yaml: document contains excessive aliasing");
    assert_eq!(
        yaml::parse("a: &a [*a]\n").unwrap_err().to_string(),
        "yaml: anchor 'a' value contains itself"
    );
}
