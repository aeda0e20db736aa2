//! Every link in the book, the README and the other pages at the root has an existing file and heading as its target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{pages, root};

/// The links and anchors of a page.
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let (mut anchors, mut links) = (BTreeSet::new(), Vec::new());
        let mut fence: Option<String> = None;
        for line in text.lines() {
            let marks: String = line.trim_start().chars().take_while(|c| *c == '`').collect();
            match &fence {
                Some(open) if marks.len() >= open.len() => fence = None,
                Some(_) => {}
                None if marks.len() >= 3 => fence = Some(marks),
                None => {
                    if let Some(heading) = line.strip_prefix('#') {
                        anchors.insert(anchor(heading.trim_start_matches('#').trim(), &anchors));
                    }
                    links.extend(links_in(line));
                }
            }
        }
        Self { anchors, links }
    }
}

/// The anchor of a heading; a repeated one gets a number.
fn anchor(heading: &str, taken: &BTreeSet<String>) -> String {
    let words = heading.to_lowercase().replace(' ', "-");
    let name: String = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect();
    let numbered = (1..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|one| !taken.contains(one)).unwrap()
}

/// `[text](target)` and `[name]: target`, outside of code.
fn links_in(line: &str) -> Vec<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let inline = plain.match_indices("](").filter_map(|(at, _)| plain[at + 2..].split(')').next());
    let defined = plain.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    inline.chain(defined).map(|target| target.trim().to_owned()).collect()
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

#[test]
fn every_link_and_anchor_leads_somewhere() {
    let root = root();
    let at_root =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name));
    let files: Vec<PathBuf> = pages(&root.join("docs")).into_iter().chain(at_root).collect();
    let known: BTreeMap<PathBuf, Page> = files.iter().map(|path| (path.clone(), Page::read(path))).collect();
    let mut wrong = Vec::new();
    for (path, page) in &known {
        for link in page.links.iter().filter(|link| !is_elsewhere(link)) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}: {link} leads to no file", path.display()));
                continue;
            };
            if path.starts_with(root.join("docs")) && !target.starts_with(root.join("docs")) {
                wrong.push(format!("{}: {link} leads out of the book", path.display()));
            }
            let has_it =
                heading.is_empty() || known.get(&target).is_some_and(|page| page.anchors.contains(heading));
            if !has_it {
                wrong.push(format!("{}: there is no heading for {link}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(known.values().map(|page| page.links.len()).sum::<usize>() > 100, "links were not found at all");
}

#[test]
fn every_page_is_in_the_contents_once() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let mut listed: Vec<PathBuf> = Page::read(&summary).links.iter().map(|link| docs.join(link)).collect();
    listed.sort();
    let written: Vec<PathBuf> = pages(&docs).into_iter().filter(|path| *path != summary).collect();
    assert_eq!(listed, written, "docs/SUMMARY.md lists other pages than there are");
}

#[test]
fn headings_become_anchors_as_readers_see_them() {
    let mut taken = BTreeSet::new();
    for (heading, wanted) in [
        ("`baton task add`", "baton-task-add"),
        ("`GET /api/tasks/{id}`", "get-apitasksid"),
        ("What it is, and why?", "what-it-is-and-why"),
        ("What it is, and why?", "what-it-is-and-why-1"),
    ] {
        let found = anchor(heading, &taken);
        assert_eq!(found, wanted);
        taken.insert(found);
    }
    assert_eq!(links_in("see [a](b.md#c), `[no](d)` and [e](f)"), ["b.md#c", "f"]);
}
