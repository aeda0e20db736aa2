//! Leave to run the project's commands: where `[user_tasks] trust = "prompt"`, a person is asked in the same inbox as
//! ever, and what they say holds for the file exactly as it was when they were asked.

use baton_core::ask::choice::YesNo;
use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::ask::question_record::QuestionState;
use baton_core::base::id::TaskId;
use baton_core::base::text::{BlankText, NonBlank};
use baton_store::model::query::QuestionFilter;

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;
use crate::user_tasks::{Site, TASKFILE, UserTasks};

/// Questions of one task that are looked through. Beyond them a person is asked again.
const QUESTIONS_MAX: u32 = 200;
/// Digits of the digest that are shown; two files that share them are not met by chance.
const DIGITS_SHOWN: usize = 16;

#[derive(Debug)]
pub enum Leave {
    /// From now on it is trusted as it is.
    Given,
    Refused,
    /// Nobody was asked yet about the file as it is now.
    Unasked(QuestionDraft),
}

impl Leave {
    /// What the people of a task have said. Only a person's own word counts, no policy's.
    pub async fn look(
        tasks: &TaskService,
        user_tasks: &UserTasks,
        site: &Site,
        task: TaskId,
    ) -> Result<Self, EngineError> {
        let digest = user_tasks.digest(site)?;
        let question = question(&digest)?;
        let filter = QuestionFilter { task: Some(task), ..QuestionFilter::default() };
        let asked = tasks.store.questions(&filter, None, QUESTIONS_MAX).await?;
        let said = asked.items.into_iter().rev().find_map(|stored| match stored.value.state {
            QuestionState::Answered { answer, answered_by, .. }
                if stored.value.question.draft.text == question.text && !answered_by.is_automatic() =>
            {
                YesNo::read(answer.as_str()).ok()
            }
            _ => None,
        });
        Ok(match said {
            Some(YesNo::Yes) if user_tasks.trust_if(site, &digest)? => Self::Given,
            // It changed in this very moment; the next look asks about what it is then.
            Some(YesNo::Yes) => Self::Unasked(question),
            Some(YesNo::No) => Self::Refused,
            None => Self::Unasked(question),
        })
    }
}

fn question(digest: &str) -> Result<QuestionDraft, BlankText> {
    let shown = digest.get(..DIGITS_SHOWN).unwrap_or(digest);
    let text = format!(
        "May the commands of {TASKFILE} be run as they are now? The file, or one it includes, is new or has changed \
         since anybody last allowed it (fingerprint {shown}). They run with your rights: read them first.\n\n\
         YES: they run, until a file changes again. NO: the work goes on without them."
    );
    let mut draft = QuestionDraft::new(QuestionKind::Permission, NonBlank::new(text)?);
    draft.options = YesNo::OPTIONS.iter().map(|option| NonBlank::new(*option)).collect::<Result<_, _>>()?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_stands_alone() {
        let draft = question(&"0123456789abcdef".repeat(4)).unwrap();
        assert_eq!(draft.missing_context(), [], "{}", draft.text);
    }
}
