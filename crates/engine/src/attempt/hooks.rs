//! The hooks around an attempt.

use baton_core::ask::question::QuestionDraft;
use baton_core::base::text::NonBlank;
use baton_core::task::Task;
use serde_json::json;

use crate::attempt::executor::Executed;
use crate::attempt::runner::Runner;
use crate::base::error::EngineError;
use crate::git::Checkout;
use crate::projects::hooks::{HookCall, HookFailed};
use crate::settings::hooks::HookName;

impl Runner {
    /// What to ask if the hook does not let the agent start.
    pub(super) async fn run_before_hook(
        &self,
        task: &Task,
        checkout: &Checkout,
    ) -> Result<Option<QuestionDraft>, EngineError> {
        let call = HookCall {
            name: HookName::BeforeAttempt,
            task,
            attempt: Some(checkout.attempt),
            folder: Some(&checkout.folder),
            more: json!({}),
        };
        match self.context.projects.run_hook(call).await {
            Ok(()) => Ok(None),
            Err(error) if error.is::<HookFailed>() => {
                let text = format!(
                    "No agent was started for the task \"{}\", because of the project's own rule: {error}\n\nYES tries \
                     again; NO holds the task until you release it. To give the task up: baton task cancel {}.",
                    task.spec().title,
                    task.id()
                );
                let text = NonBlank::or(&text, task.spec().title.clone());
                Ok(Some(QuestionDraft::whether_to_go_on(text)))
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn run_after_hook(
        &self,
        task: &Task,
        checkout: &Checkout,
        executed: &Result<Executed, EngineError>,
    ) {
        let result = match executed {
            Ok(Executed::Settled) => "settled",
            Ok(Executed::Stopped) => "stopped",
            Ok(Executed::Stale) => "stale",
            Err(_) => "failed",
        };
        let call = HookCall {
            name: HookName::AfterAttempt,
            task,
            attempt: Some(checkout.attempt),
            folder: Some(&checkout.folder),
            more: json!({ "result": result }),
        };
        self.context.projects.run_last_hook(call).await;
    }
}
