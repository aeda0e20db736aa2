//! What was heard from an agent so far: counted, kept within bounds, and closed when it has said its last.

use baton_core::ask::question::QuestionDraft;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;

use crate::ended::How;
use crate::excerpt::Excerpt;
use crate::report::{Fault, OutcomeReport, Report, ResultReport, Usage};

/// The output of an attempt. It goes into prompts and pages; the log has more.
pub const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// The end of standard error that goes into an error's message.
pub const STDERR_TAIL_BYTES_MAX: usize = 4 * 1024;
/// Problems worth keeping. The first ones say what is wrong; the rest is the same again.
pub const PROBLEMS_MAX: usize = 20;

/// Why nothing more is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    Asked,
    TurnLimit,
}

/// A report that would have settled the result, had it been readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    Question(Fault),
    Result(Fault),
}

#[derive(Debug)]
pub struct Heard {
    turns_max: u32,
    pub turns: u32,
    pub usage: Usage,
    pub output: Excerpt,
    pub stderr: Excerpt,
    pub asked: Option<QuestionDraft>,
    /// The last one said.
    pub result: Option<ResultReport>,
    pub outcome: Option<OutcomeReport>,
    pub plan: Option<PlanDraft>,
    pub rubric: Option<Rubric>,
    pub discovered: Option<Vec<DiscoveredTask>>,
    /// None again as soon as a result can be read.
    pub unreadable: Option<Unreadable>,
    pub problems: Vec<String>,
    pub over: Option<Over>,
}

impl Heard {
    pub fn new(turns_max: u32) -> Self {
        Self {
            turns_max: turns_max.max(1),
            turns: 0,
            usage: Usage::default(),
            output: Excerpt::new(OUTPUT_BYTES_MAX),
            stderr: Excerpt::of_end(STDERR_TAIL_BYTES_MAX),
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

    pub fn report(&mut self, report: &Report) {
        match report {
            Report::Turn => {
                self.turns += 1;
                if self.turns >= self.turns_max {
                    self.over = Some(Over::TurnLimit);
                }
            }
            Report::Usage(usage) => {
                self.usage = Usage {
                    input_tokens: self.usage.input_tokens.saturating_add(usage.input_tokens),
                    output_tokens: self.usage.output_tokens.saturating_add(usage.output_tokens),
                    cost_micro_usd: self.usage.cost_micro_usd.saturating_add(usage.cost_micro_usd),
                };
            }
            Report::Ask(draft) => {
                self.asked = Some(draft.clone());
                self.over = Some(Over::Asked);
            }
            Report::Result(result) => {
                self.result = Some(result.clone());
                self.unreadable = None;
            }
            Report::Outcome(outcome) => self.outcome = Some(outcome.clone()),
            Report::Plan(plan) => self.plan = Some(plan.clone()),
            Report::Vagueness(rubric) => self.rubric = Some((**rubric).clone()),
            Report::Discovered(tasks) => self.discovered = Some(tasks.clone()),
        }
    }

    /// What brought the end about, when `how` is what it looked like from outside.
    pub fn how(&self, how: How) -> How {
        match self.over {
            Some(Over::Asked) => How::Finished,
            Some(Over::TurnLimit) => How::TurnLimit,
            None => how,
        }
    }

    /// A line that wanted to be a report. It was text too, so nothing of it is lost.
    pub fn fault(&mut self, fault: &Fault) {
        match fault.kind.as_deref() {
            Some("ask") => self.unreadable = Some(Unreadable::Question(fault.clone())),
            Some("result") => self.unreadable = Some(Unreadable::Result(fault.clone())),
            Some(_) | None => {}
        }
        self.problem(fault.to_string());
    }

    pub fn problem(&mut self, problem: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else if self.problems.len() == PROBLEMS_MAX {
            self.problems.push("there were more problems; the log has them".to_owned());
        }
    }

    pub fn text(&mut self, line: &str) {
        self.output.push(line);
        self.output.push("\n");
    }

    pub fn stderr(&mut self, line: &str) {
        self.stderr.push(line);
        self.stderr.push("\n");
    }
}
