//! `baton cost`: what the work of agents cost.

mod report;

use baton_core::base::time::Timestamp;
use baton_core::base::words::pluralize;

pub(crate) use self::report::{CostReport, load_costs};
use self::report::{CostRow, CostSum};
use crate::cli::status::{CostArgs, CostBy};
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

const MICRO_PER_CENT: u64 = 10_000;

pub(crate) async fn run(api: &Api, arguments: &CostArgs) -> Result<String, CliError> {
    let now = api.now().await?;
    let since = arguments.since.as_deref().map(|text| parse_since(text, now)).transpose()?;
    let report = load_costs(api, since).await?;
    if api.is_json {
        return output::json(&report);
    }
    Ok(render(&report, arguments.by, arguments.since.as_deref()))
}

fn render(report: &CostReport, by: Option<CostBy>, since: Option<&str>) -> String {
    let span = since.map_or_else(|| "today (UTC)".to_owned(), |since| format!("since {since}"));
    let mut text = format!("{} {span}: {}\n", dollars(report.total.cost_micro_usd), used(report.total));
    let tables = [
        (CostBy::Project, "PROJECT", &report.by_project),
        (CostBy::Agent, "AGENT", &report.by_agent),
        (CostBy::Task, "TASK", &report.by_task),
    ];
    for (kind, heading, rows) in tables {
        if by.is_none_or(|by| by == kind) && !rows.is_empty() {
            text.push('\n');
            text.push_str(&table(heading, rows));
        }
    }
    text
}

fn table(heading: &str, rows: &[CostRow]) -> String {
    let row = |row: &CostRow| {
        [
            row.id.clone().unwrap_or_else(|| "no project".to_owned()),
            dollars(row.sum.cost_micro_usd),
            row.sum.input_tokens.saturating_add(row.sum.output_tokens).to_string(),
            row.sum.turns.to_string(),
            row.sum.attempts.to_string(),
            row.title.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<[String; 6]> = rows.iter().map(row).collect();
    output::table([heading, "COST", "TOKENS", "TURNS", "ATTEMPTS", "TITLE"], &rows)
}

fn used(sum: CostSum) -> String {
    format!(
        "{}, {}, {} tokens",
        pluralize(sum.attempts, "attempt"),
        pluralize(sum.turns, "turn"),
        sum.input_tokens.saturating_add(sum.output_tokens)
    )
}

/// Rounded to cents; what is less than one is not shown as nothing.
pub(crate) fn dollars(micro_usd: u64) -> String {
    let cents = (micro_usd + MICRO_PER_CENT / 2) / MICRO_PER_CENT;
    if cents == 0 && micro_usd > 0 {
        return "<$0.01".to_owned();
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// A moment, or a span before now: `90m`, `24h`, `7d`.
fn parse_since(text: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    if let Ok(at) = format!("{text}T00:00:00Z").parse() {
        return Ok(at);
    }
    let wrong = || {
        CliError::usage(
            format!("\"{text}\" is neither a time nor a span"),
            "such as --since 24h, --since 7d, --since 2026-11-15 or --since 2026-11-15T09:30:00Z",
        )
    };
    let unit = text.chars().next_back().ok_or_else(wrong)?;
    let ms: i64 = match unit {
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        'w' => 7 * 86_400_000,
        _ => return Err(wrong()),
    };
    let count: u32 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| wrong())?;
    Ok(now.plus_ms(-ms.saturating_mul(i64::from(count))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_rounded_to_cents_and_never_to_nothing() {
        let shown = [0, 1, 4_999, 5_000, 1_234_567, 12_000_000].map(dollars);
        assert_eq!(shown, ["$0.00", "<$0.01", "<$0.01", "$0.01", "$1.23", "$12.00"]);
    }

    #[test]
    fn a_span_counts_back_from_now() {
        let now: Timestamp = "2026-11-15T09:30:00Z".parse().unwrap();
        let since = |text| parse_since(text, now).map(|at| at.to_string()).map_err(|error| error.code);
        assert_eq!(since("90m").unwrap(), "2026-11-15T08:00:00.000Z");
        assert_eq!(since("1d").unwrap(), "2026-11-14T09:30:00.000Z");
        assert_eq!(since("2026-11-01").unwrap(), "2026-11-01T00:00:00.000Z");
        for wrong in ["", "yesterday", "5", "d", "-3h", "ä"] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }
}
