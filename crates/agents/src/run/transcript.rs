//! What an agent has said so far, within bounds.

use baton_core::ask::question::QuestionDraft;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;

use crate::driver::run_result::EndReason;
use crate::output::excerpt::TextExcerpt;
use crate::report::{AgentReport, OutcomeReport, ReportError, ResultReport, Usage};

/// Output kept for prompts and pages; the log has more.
pub(crate) const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Tail of standard error kept for error messages.
pub(crate) const STDERR_TAIL_BYTES_MAX: usize = 4 * 1024;
/// Problems kept; later ones tend to repeat the first.
pub(crate) const PROBLEMS_MAX: usize = 20;

/// Why the agent is ended by what it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    Asked,
    TurnLimit,
}

/// A report that would have determined the result, but could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnreadableReport {
    Question(ReportError),
    Result(ReportError),
}

#[derive(Debug)]
pub(crate) struct Transcript {
    turns_max: u32,
    pub turns: u32,
    pub usage: Usage,
    pub output: TextExcerpt,
    pub stderr: TextExcerpt,
    pub asked: Option<QuestionDraft>,
    /// The last one reported.
    pub result: Option<ResultReport>,
    pub outcome: Option<OutcomeReport>,
    pub plan: Option<PlanDraft>,
    pub rubric: Option<Rubric>,
    pub discovered: Option<Vec<DiscoveredTask>>,
    /// Cleared by a result that can be parsed.
    pub unreadable: Option<UnreadableReport>,
    pub problems: Vec<String>,
    pub over: Option<StopCause>,
}

impl Transcript {
    pub(crate) fn new(turns_max: u32) -> Self {
        Self {
            turns_max: turns_max.max(1),
            turns: 0,
            usage: Usage::default(),
            output: TextExcerpt::new(OUTPUT_BYTES_MAX),
            stderr: TextExcerpt::tail(STDERR_TAIL_BYTES_MAX),
            asked: None,
            result: None,
            outcome: None,
            plan: None,
            rubric: None,
            discovered: None,
            unreadable: None,
            problems: Vec::new(),
            over: None,
        }
    }

    pub(crate) fn add_report(&mut self, report: &AgentReport) {
        match report {
            AgentReport::Turn => {
                self.turns += 1;
                if self.turns >= self.turns_max {
                    self.over = Some(StopCause::TurnLimit);
                }
            }
            AgentReport::Usage(usage) => {
                self.usage = Usage {
                    input_tokens: self.usage.input_tokens.saturating_add(usage.input_tokens),
                    output_tokens: self.usage.output_tokens.saturating_add(usage.output_tokens),
                    cost_micro_usd: self.usage.cost_micro_usd.saturating_add(usage.cost_micro_usd),
                };
            }
            AgentReport::Ask(draft) => {
                self.asked = Some(draft.clone());
                self.over = Some(StopCause::Asked);
            }
            AgentReport::Result(result) => {
                self.result = Some(result.clone());
                self.unreadable = None;
            }
            AgentReport::Outcome(outcome) => self.outcome = Some(outcome.clone()),
            AgentReport::Plan(plan) => self.plan = Some(plan.clone()),
            AgentReport::Vagueness(rubric) => self.rubric = Some((**rubric).clone()),
            AgentReport::Discovered(tasks) => self.discovered = Some(tasks.clone()),
        }
    }

    /// What ended the run; `seen` is what it looked like from outside.
    pub(crate) fn end_reason(&self, seen: EndReason) -> EndReason {
        match self.over {
            Some(StopCause::Asked) => EndReason::Finished,
            Some(StopCause::TurnLimit) => EndReason::TurnLimit,
            None => seen,
        }
    }

    /// Adds a line that looked like a report. Its text was added too, so nothing is lost.
    pub(crate) fn add_report_error(&mut self, fault: &ReportError) {
        match fault.kind.as_deref() {
            Some("ask") => self.unreadable = Some(UnreadableReport::Question(fault.clone())),
            Some("result") => self.unreadable = Some(UnreadableReport::Result(fault.clone())),
            Some(_) | None => {}
        }
        self.add_problem(fault.to_string());
    }

    pub(crate) fn add_problem(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else if self.problems.len() == PROBLEMS_MAX {
            self.problems.push("further problems are in the log".to_owned());
        }
    }

    pub(crate) fn push_text(&mut self, line: &str) {
        self.output.push(line);
        self.output.push("\n");
    }

    pub(crate) fn push_stderr(&mut self, line: &str) {
        self.stderr.push(line);
        self.stderr.push("\n");
    }
}
