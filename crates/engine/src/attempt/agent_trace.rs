//! The spans of one agent run: the agent, its turns, and the tools of each turn, by the `GenAI` conventions of
//! OpenTelemetry. Prompts, messages and tool arguments stay out of them: they may hold secrets.

use std::collections::BTreeMap;

use baton_agents::driver::AgentEvent;
use baton_agents::driver::run_result::RunResult;
use baton_agents::presets::kind::AgentKind;
use baton_agents::report::tool_call::ToolOutcome;
use baton_core::base::text::AgentName;
use tracing::field::Empty;
use tracing::{Span, info_span};

pub(crate) struct AgentTrace {
    agent: Span,
    /// The current turn; disabled before the first.
    turn: Span,
    /// Tools that have not ended, by the id of their call.
    tools: BTreeMap<String, Span>,
}

impl AgentTrace {
    pub(crate) fn start(name: &AgentName, kind: AgentKind, model: Option<&str>) -> Self {
        let agent = info_span!(
            "invoke_agent",
            gen_ai.operation.name = "invoke_agent",
            gen_ai.provider.name = provider(kind),
            gen_ai.agent.name = %name,
            gen_ai.request.model = model,
            gen_ai.conversation.id = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            cost_usd = Empty,
            turns = Empty,
            outcome = Empty,
            otel.status_code = Empty,
        );
        Self { agent, turn: Span::none(), tools: BTreeMap::new() }
    }

    pub(crate) const fn span(&self) -> &Span {
        &self.agent
    }

    pub(crate) fn note(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Turn(number) => self.turn = info_span!(parent: &self.agent, "turn", turn = number),
            AgentEvent::ToolStarted(call) => {
                let parent = if self.turn.is_disabled() { &self.agent } else { &self.turn };
                let span = info_span!(
                    parent: parent,
                    "execute_tool",
                    gen_ai.operation.name = "execute_tool",
                    gen_ai.tool.name = call.kind.as_str(),
                    gen_ai.tool.call.id = call.id,
                    otel.status_code = Empty,
                );
                self.tools.insert(call.id.clone(), span);
            }
            AgentEvent::ToolEnded(ended) => {
                if let (Some(span), ToolOutcome::Failed) = (self.tools.remove(&ended.id), ended.outcome) {
                    span.record("otel.status_code", "ERROR");
                }
            }
            AgentEvent::Session(id) => {
                self.agent.record("gen_ai.conversation.id", id);
            }
            _ => {}
        }
    }

    pub(crate) fn end(self, ended: &RunResult) {
        #[expect(clippy::cast_precision_loss, reason = "dollars for people; sums use the exact number")]
        let cost_usd = ended.cost_micro_usd as f64 / 1e6;
        self.agent.record("gen_ai.usage.input_tokens", ended.input_tokens);
        self.agent.record("gen_ai.usage.output_tokens", ended.output_tokens);
        self.agent.record("cost_usd", cost_usd);
        self.agent.record("turns", ended.turns);
        self.agent.record("outcome", ended.reported.result.kind().as_str());
        if ended.failure.is_some() {
            self.agent.record("otel.status_code", "ERROR");
        }
    }
}

/// As the conventions name providers; where Baton does not know whose model it is, the kind of the agent.
const fn provider(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Claude => "anthropic",
        AgentKind::Codex => "openai",
        AgentKind::Acp | AgentKind::Command | AgentKind::Scripted => kind.as_str(),
    }
}
