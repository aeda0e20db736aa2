//! Any template renders or gives an error: no panic, no stack overflow, no unbounded memory.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::template::rendered;

fn refused(text: &str, message: &str) {
    let shown = rendered(text);
    let start: String = shown.chars().take(200).collect();
    assert!(shown.starts_with('!') && shown.contains(message), "{start}");
}

#[test]
fn nesting_is_bounded() {
    const DEEP: usize = 10_000;
    refused(&format!("{{{{{}1{}}}}}", "(".repeat(DEEP), ")".repeat(DEEP)), "nested more than");
    refused(&format!("{}{}", "{{if true}}".repeat(DEEP), "{{end}}".repeat(DEEP)), "nested more than");
    refused(&format!("{{{{if 0}}}}{}{{{{end}}}}", "{{else if 0}}".repeat(DEEP)), "nested more than");
    refused(r#"{{define "t"}}{{template "t" .}}{{end}}{{template "t" .}}"#, "nested more than");
    let as_deep_as_it_may = 190;
    let text = format!("{}x{}", "{{if true}}".repeat(as_deep_as_it_may), "{{end}}".repeat(as_deep_as_it_may));
    assert_eq!(rendered(&text), "x");
}

#[test]
fn nesting_of_values_is_bounded() {
    refused("{{$x := list}}{{range until 10000}}{{$x = list $x}}{{end}}", "nested more than");
    refused(r#"{{$x := dict}}{{set $x "x" $x}}"#, "a map cannot hold itself");
    refused(r#"{{$x := dict}}{{$y := list $x}}{{set $x "y" (dict "z" $y)}}"#, "a map cannot hold itself");
    refused(
        r#"{{$x := dict}}{{range until 10000}}{{$y := dict}}{{$_ := set $x "k" $y}}{{$x = $y}}{{end}}"#,
        "set into a map more than",
    );
    let deep = format!("{{{{mustFromYaml {:?}}}}}", "[".repeat(10_000));
    refused(&deep, "error calling mustFromYaml");
    refused(&format!("{{{{mustFromJson {:?}}}}}", "[".repeat(10_000)), "error calling mustFromJson");
}

#[test]
fn sizes_of_strings_and_lists_are_bounded() {
    refused(r#"{{repeat 1000000000000 "a"}}"#, "a text of more than");
    refused(r#"{{indent 1000000000 "a"}}"#, "a text of more than");
    refused("{{until 1000000000}}", "a list or map of more than");
    refused("{{seq 1000000000}}", "a list or map of more than");
    refused("{{untilStep 0 9223372036854775807 1}}", "a list or map of more than");
    refused("{{range 1000000000}}{{end}}", "range over more than");
    refused(r#"{{$x := "ab"}}{{range until 100}}{{$x = print $x $x}}{{end}}"#, "a text of more than");
    refused("{{$x := list 1}}{{range until 100}}{{$x = concat $x $x}}{{end}}", "a list or map of more than");
    refused(
        "{{$x := list 1}}{{range until 100}}{{$x = list $x $x}}{{end}}{{$x}}",
        "a list or map of more than",
    );
    refused(r#"{{$x := repeat 1000000 "a"}}{{replace "a" $x $x}}"#, "a text of more than");
    refused(r#"{{$x := repeat 1000000 "a"}}{{regexReplaceAll "a" $x $x}}"#, "a text of more than");
    refused(r#"{{$x := repeat 1000000 "a"}}{{join $x (until 1000)}}"#, "a text of more than");
    refused(
        "{{range until 1000}}{{range until 1000}}{{range until 1000}}{{end}}{{end}}{{end}}",
        "stopped after",
    );
}

#[test]
fn expansion_of_yaml_aliases_is_bounded() {
    let mut laughs = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for i in 1..10 {
        let inner = vec![format!("*a{}", i - 1); 10].join(",");
        _ = writeln!(laughs, "a{i}: &a{i} [{inner}]");
    }
    refused(&format!("{{{{mustFromYaml {laughs:?}}}}}"), "document contains excessive aliasing");
}

#[test]
fn a_regular_expression_is_bounded() {
    refused(r#"{{mustRegexMatch "((a{500}){500}){500}" "a"}}"#, "error parsing regexp");
    let groups = format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000));
    refused(&format!("{{{{mustRegexMatch {groups:?} \"a\"}}}}"), "error parsing regexp");
}

/// Fragments from which most meaningful templates can be built.
const PIECES: [&str; 6] = [
    "{{¦}}¦{{- ¦ -}}¦{{if ¦{{range ¦{{with ¦{{else}}¦{{end}}¦{{define \"t\"}}¦{{template \"t\" .}}¦{{block \"b\" .}}",
    "{{break}}¦{{continue}}¦$x := ¦$x¦$i, $e := ¦.S¦.L¦.M¦.LN¦.N¦.M.nest.x¦.NULLV¦.NOPE¦ | ¦(¦)¦\"a\"¦`b`¦'c'¦1¦-1",
    "2.5¦0x1F¦1e3¦true¦nil¦ ¦\n¦,¦=¦.¦printf \"%5.2v|%q\" ¦index ¦slice ¦len ¦eq ¦lt ¦and ¦or ¦not ¦print ¦default ",
    "join \",\" ¦splitList \",\" ¦upper ¦trunc ¦substr 1 3 ¦until ¦seq ¦dict \"k\" ¦list ¦set ¦first ¦rest ¦chunk 2 ",
    "toJson ¦fromJson ¦toYaml ¦fromYaml ¦date \"2006 .000 Z07\" ¦toDate \"2006-01-02\" ¦regexFind ¦regexSplit ¦q ",
    "splitArgs ¦urlParse ¦joinUrl ¦clean ¦b64dec ¦atoi ¦add ¦div ¦round ¦spew ¦html ¦now.Year¦{{/* c */}}¦é¦日¦\0¦%¦\\",
];

fn piece() -> impl Strategy<Value = String> {
    let known: Vec<String> = PIECES.iter().flat_map(|line| line.split('¦')).map(str::to_owned).collect();
    prop_oneof![8 => prop::sample::select(known), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_renders_deterministically_or_fails(text in any::<String>()) {
        prop_assert_eq!(rendered(&text), rendered(&text));
    }

    #[test]
    fn any_template_fragments_render_deterministically_or_fail(
        pieces in prop::collection::vec(piece(), 0..20),
    ) {
        let text = pieces.concat();
        prop_assert_eq!(rendered(&text), rendered(&text));
    }

    #[test]
    fn any_call_is_answered(
        pieces in prop::collection::vec(piece(), 0..8),
    ) {
        let text = format!("{{{{{}}}}}", pieces.join(" "));
        prop_assert_eq!(rendered(&text), rendered(&text));
    }

    #[test]
    fn any_texts_can_be_given_to_any_function(a in any::<String>(), b in any::<String>()) {
        for call in [
            "regexFind", "regexMatch", "regexQuoteMeta", "splitList", "trimAll", "toDate", "joinUrl", "joinPath",
            "relPath", "printf", "contains", "split", "cat", "dict", "quote", "replace \"a\"", "regexReplaceAll \"a\"",
            "regexReplaceAllLiteral \"b*\"", "date", "splitn \",\" 2",
        ] {
            let text = format!("{{{{{call} {a:?} {b:?}}}}}");
            prop_assert_eq!(rendered(&text), rendered(&text));
        }
        for call in [
            "q", "splitArgs", "urlParse", "fromYaml", "fromJson", "b64dec", "b32dec", "b64enc", "title", "indent 2",
            "clean", "base", "dir", "ext", "expandenv", "duration", "durationRound", "trunc 3", "trunc -3",
            "substr 1 2", "toYaml", "toJson", "js", "html", "urlquery", "int", "float64", "mustFromYaml",
        ] {
            let text = format!("{{{{{call} {a:?}}}}}");
            prop_assert_eq!(rendered(&text), rendered(&text));
        }
    }
}
