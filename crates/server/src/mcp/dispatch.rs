//! Dispatches tool calls by name.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::sleep;

use super::arguments::ToolArguments;
use super::catalog::ASK_ALIAS;
use super::{
    Caller, ToolAnswer, ToolProvider, ToolSpec, Toolbox, attempt_tools, person_tools, queue_tools,
    user_task_tools,
};

/// How often the Taskfile is checked while a client subscribes to changes of the tool list.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Toolbox {
    /// Runs a tool. Only tools the caller is offered can be called.
    pub async fn call_tool(
        &self,
        caller: &Caller,
        name: &str,
        arguments: Option<Map<String, Value>>,
    ) -> ToolAnswer {
        if let Some(refusal) = self.refusal(caller, name) {
            return ToolAnswer::error(format!("{}\n{}", refusal.message, refusal.hint));
        }
        let Some(spec) = self.list_tools(caller).into_iter().find(|spec| spec.name == name) else {
            let names: Vec<String> = self.list_tools(caller).into_iter().map(|spec| spec.name).collect();
            return ToolAnswer::error(format!("unknown tool {name}; available tools: {}", names.join(", ")));
        };
        match ToolArguments::check(arguments, &spec.arguments()) {
            Ok(arguments) => self.run_tool(caller, name, arguments).await.unwrap_or_else(ToolAnswer::error),
            Err(mistake) => ToolAnswer::error(mistake),
        }
    }

    async fn run_tool(
        &self,
        caller: &Caller,
        name: &str,
        arguments: ToolArguments,
    ) -> Result<ToolAnswer, String> {
        match name {
            "list_user_tasks" => Ok(user_task_tools::list(self, caller)),
            "run_user_task" => user_task_tools::run(self, caller, &arguments.parse()?).await,
            "get_next_task" => queue_tools::next(self, caller).await,
            "list_tasks" => queue_tools::list(self, arguments.parse()?).await,
            "get_task" => queue_tools::get(self, &arguments.parse()?).await,
            "add_task" => queue_tools::add(self, caller, arguments.parse()?).await,
            "update_task" => queue_tools::update(self, caller, arguments.parse()?).await,
            "set_task_status" => queue_tools::set_status(self, caller, arguments.parse()?).await,
            "chat" => person_tools::chat(self, caller, arguments.parse()?).await,
            "list_questions" => person_tools::questions(self).await,
            "list_recipes" => Ok(person_tools::recipes(self)),
            "answer_question" => person_tools::answer(self, caller, arguments.parse()?).await,
            "accept_task" => person_tools::accept(self, caller, &arguments.parse()?).await,
            "reject_task" => person_tools::reject(self, caller, arguments.parse()?).await,
            "ask_user" | ASK_ALIAS => attempt_tools::ask(self, caller, arguments.parse()?).await,
            "report_outcome" => attempt_tools::report(self, caller, &arguments.parse()?),
            "submit_breakdown" => attempt_tools::submit(self, caller, arguments.parse()?),
            "load_workflow_context" => attempt_tools::context(self, caller).await,
            // A test ensures that core offers only known names.
            _ => Err(format!("unknown tool {name}")),
        }
    }
}

impl ToolProvider for Toolbox {
    async fn list(&self, caller: Option<Caller>) -> Vec<ToolSpec> {
        self.list_tools(&caller.unwrap_or_else(|| self.person()))
    }

    async fn call(
        &self,
        caller: Option<Caller>,
        name: &str,
        arguments: Option<Map<String, Value>>,
    ) -> ToolAnswer {
        self.call_tool(&caller.unwrap_or_else(|| self.person()), name, arguments).await
    }

    /// Polls for the Taskfile while there is a receiver.
    fn changes(&self, caller: Option<Caller>) -> watch::Receiver<u64> {
        let (sender, receiver) = watch::channel(0);
        let (toolbox, caller) = (self.clone(), caller.unwrap_or_else(|| self.person()));
        let mut before = toolbox.has_taskfile(&caller);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = sender.closed() => return,
                    () = sleep(LOOK_EVERY) => {}
                }
                let now = toolbox.has_taskfile(&caller);
                if now != before {
                    before = now;
                    sender.send_modify(|count| *count += 1);
                }
            }
        });
        receiver
    }
}
