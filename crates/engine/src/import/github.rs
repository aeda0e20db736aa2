//! GitHub issues, exported as JSON by `gh issue list --json …` or `gh api repos/…/issues`.

use std::path::Path;

use baton_core::transition::arrival::ImportedState;
use baton_store::external::ExternalRow;
use serde_json::Value;

use crate::import::item::{
    DescriptionBuilder, ExternalTask, ExternalTasks, objects, parse_priority, parse_time, text,
};
use crate::import::{ImportError, find, parent_folder, read_text};

pub(super) fn read(path: &Path) -> Result<ExternalTasks, ImportError> {
    let file = find(path, &["issues.json"])?;
    let whole = read_text(&file)?;
    let pages: Vec<Value> = serde_json::Deserializer::from_str(&whole)
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(|error| ImportError::malformed(&file, error.line(), error.to_string()))?;
    // `gh api --paginate` prints one list after another; a query prints one object.
    let rows: Vec<Value> = pages.into_iter().flat_map(into_rows).collect();
    let mut found = ExternalTasks { origin: parent_folder(&file), ..ExternalTasks::default() };
    for row in &rows {
        let Some(issue) = row.as_object() else {
            return Err(ImportError::malformed(&file, 1, "an issue must be an object with number and title"));
        };
        let number = text(issue, "number");
        if issue.contains_key("pull_request") {
            found.left_out.push(format!("#{number} is a pull request"));
        } else if number.is_empty() || text(issue, "title").trim().is_empty() {
            return Err(ImportError::malformed(
                &file,
                1,
                "an issue has no number or no title; export with: gh issue list --state all --limit 10000 --json number,title,body,state,stateReason,labels,assignees,createdAt,url,comments",
            ));
        } else {
            found.items.push(item(issue));
        }
    }
    if let Some(repository) = rows.iter().find_map(repository_url) {
        found.origin = repository;
    }
    Ok(found)
}

fn into_rows(page: Value) -> Vec<Value> {
    match page {
        Value::Array(rows) => rows,
        other => vec![other],
    }
}

/// The issue's URL without its number, which does not depend on where the export is.
fn repository_url(row: &Value) -> Option<String> {
    let issue = row.as_object()?;
    let address =
        Some(text(issue, "html_url")).filter(|url| !url.is_empty()).unwrap_or_else(|| text(issue, "url"));
    let (repository, _) = address.split_once("/issues/")?;
    Some(repository.to_owned())
}

fn item(issue: &ExternalRow) -> ExternalTask {
    let number = text(issue, "number");
    let is_closed = text(issue, "state").eq_ignore_ascii_case("closed");
    let reason = [text(issue, "stateReason"), text(issue, "state_reason")].concat().to_lowercase();
    let arrival = match (is_closed, reason.as_str()) {
        (true, "not_planned" | "duplicate") => ImportedState::Cancelled,
        (true, _) => ImportedState::Done,
        (false, _) => ImportedState::Open,
    };
    let labels: Vec<String> = objects(issue, "labels").map(|label| text(label, "name")).collect();
    let people: Vec<String> = objects(issue, "assignees").map(|person| text(person, "login")).collect();
    let body = text(issue, "body");
    let comments: Vec<String> = objects(issue, "comments")
        .map(|comment| {
            let author = comment.get("author").or_else(|| comment.get("user")).and_then(Value::as_object);
            format!(
                "{}: {}",
                author.map(|author| text(author, "login")).unwrap_or_default(),
                text(comment, "body")
            )
        })
        .collect();
    let urgency = labels.iter().map(|label| label.rsplit([':', '/', ' ']).next().unwrap_or(label));
    ExternalTask {
        title: text(issue, "title"),
        text: DescriptionBuilder::new(&body)
            .section("Comments", &comments.join("\n\n"))
            .facts([
                ("GitHub", format!("#{number}")),
                ("Labels", labels.join(", ")),
                ("Assignees", people.join(", ")),
                (
                    "URL",
                    [text(issue, "html_url"), text(issue, "url")]
                        .into_iter()
                        .find(|url| !url.is_empty())
                        .unwrap_or_default(),
                ),
            ])
            .into_string(),
        priority: urgency.map(parse_priority).find(|found| *found != parse_priority("")).unwrap_or_default(),
        arrival,
        waits_on: parse_dependencies(&body),
        created_at: parse_time(&[text(issue, "createdAt"), text(issue, "created_at")].concat()),
        name: number,
    }
}

/// Dependencies written in the text, such as "blocked by #12" or "depends on #3, #4".
fn parse_dependencies(body: &str) -> Vec<String> {
    const PHRASES: [&str; 3] = ["blocked by", "depends on", "waits on"];
    let mut found = Vec::new();
    for line in body.lines() {
        let lower = line.to_lowercase();
        for phrase in PHRASES {
            let Some((_, rest)) = lower.split_once(phrase) else { continue };
            // The first word that is not a number ends the list.
            for word in rest.trim_start_matches([':', ' ']).split([' ', ',']).filter(|word| !word.is_empty())
            {
                match word.strip_prefix('#').map(|number| number.trim_end_matches(['.', ';', ')'])) {
                    Some(number) if number.bytes().all(|b| b.is_ascii_digit()) && !number.is_empty() => {
                        found.push(number.to_owned());
                    }
                    None if word == "and" => {}
                    Some(_) | None => break,
                }
            }
        }
    }
    found
}
