//! What the loops of a conversation asked and how they ended, for the agent of a later message.

use baton_agents::output::excerpt::excerpt;
use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::SessionId;
use baton_core::base::time::Timestamp;
use baton_core::recipe::LOOP_RECIPE;
use baton_store::model::query::{QuestionFilter, RunFilter};

use crate::base::error::EngineError;
use crate::base::fenced::fenced;
use crate::tasks::service::TaskService;

/// Questions and runs looked at, newest first.
const LOOKED_AT_MAX: u32 = 100;

/// One thing a loop asked, or its end.
pub(crate) struct LoopWords {
    pub at: Timestamp,
    /// What leads to each text, and the text.
    parts: Vec<(String, String)>,
}

impl LoopWords {
    /// Those of a session before a moment, oldest first.
    pub(crate) async fn before(
        tasks: &TaskService,
        session: &SessionId,
        until: Timestamp,
    ) -> Result<Vec<Self>, EngineError> {
        let filter = QuestionFilter {
            session: Some(session.clone()),
            newest_first: true,
            ..QuestionFilter::default()
        };
        let asked = tasks.store.questions(&filter, None, LOOKED_AT_MAX).await?.items;
        // A loop's own questions belong to no task.
        let own = asked.into_iter().map(|stored| stored.value).filter(|record| record.task_id.is_none());
        let mut found: Vec<Self> = own
            .map(|record| {
                let mut parts =
                    vec![("The loop asked".to_owned(), record.question.text().as_str().to_owned())];
                if let QuestionState::Answered { answer, answered_by, .. } = &record.state {
                    parts.push((format!("{answered_by} answered"), answer.as_str().to_owned()));
                }
                Self { at: record.asked_at, parts }
            })
            .collect();
        let ended = RunFilter { session: Some(session.clone()), is_open: Some(false) };
        for stored in tasks.store.runs(&ended, None, LOOKED_AT_MAX).await?.items {
            let run = &stored.value;
            let (Some(reason), Some(at)) = (run.exit_reason(), run.ended_at()) else { continue };
            if run.recipe().as_str() == LOOP_RECIPE && run.task().is_none() {
                let summary = run.summary().map(|summary| summary.to_string()).unwrap_or_default();
                let lead = format!("The Plan → Execute → Review loop ended ({})", reason.message());
                found.push(Self { at, parts: vec![(lead, summary)] });
            }
        }
        found.retain(|words| words.at < until);
        found.sort_by_key(|words| words.at);
        Ok(found)
    }

    /// Each text cut to `bytes_max`.
    pub(crate) fn text(&self, bytes_max: usize) -> String {
        let mut text = String::new();
        for (lead, words) in &self.parts {
            text.push('\n');
            text.push_str(lead);
            if words.trim().is_empty() {
                text.push_str(".\n");
            } else {
                text.push_str(":\n\n");
                text.push_str(&fenced(&excerpt(words, bytes_max)));
            }
        }
        text
    }
}
