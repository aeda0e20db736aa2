//! Who does a step: the agent, and the account it works on.

use baton_core::base::text::{AgentName, NonBlank};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::schedule::{AgentPlace, AgentRoutes, RouteRefusal, RouteWish};
use baton_core::task::Task;

use crate::attempt::agent_run::AgentRun;
use crate::attempt::error::AttemptError;
use crate::base::error::EngineError;
use crate::settings::AgentSettings;
use crate::settings::accounts::AccountSettings;

/// The agent of one run.
pub(crate) struct Assignment<'a> {
    pub name: &'a AgentName,
    pub agent: &'a AgentSettings,
    /// None where there is nothing to choose: the agent has one login, its own.
    pub account: Option<AgentName>,
    pub account_settings: Option<&'a AccountSettings>,
}

impl AgentRun<'_> {
    /// Chooses the account, and for a step of another role the agent too: that of the task was chosen when it was claimed.
    pub(crate) async fn assign(&self) -> Result<Assignment<'_>, EngineError> {
        let settings = &self.context.settings;
        let no_agent = || AttemptError::NoAgent { role: self.role.clone() };
        let routes = self.context.limits.routes().await?;
        if routes.is_plain() {
            let (name, agent) = settings.agent_for(self.role).ok_or_else(no_agent)?;
            return Ok(Assignment { name, agent, account: None, account_settings: None });
        }
        let task = self.context.tasks.task(self.task.id()).await?.value;
        let wish = task.route_wish(self.role);
        let place = self.place(&task, &routes, &wish)?;
        if let Some(from) = routes.preferred(&wish).filter(|preferred| *preferred != place) {
            self.record_move(&task, &routes, from, place.clone()).await?;
        }
        let (name, agent) = settings.agents.get_key_value(&place.agent).ok_or_else(no_agent)?;
        let account_settings = settings.accounts.get(&place.account);
        Ok(Assignment { name, agent, account: Some(place.account), account_settings })
    }

    fn place(
        &self,
        task: &Task,
        routes: &AgentRoutes,
        wish: &RouteWish<'_>,
    ) -> Result<AgentPlace, AttemptError> {
        let is_own = *self.role == task.spec().role;
        let claimed = task.state().live_attempt().map(|live| &live.agent).filter(|_| is_own);
        let chosen = match claimed.filter(|agent| routes.agents.contains_key(*agent)) {
            Some(agent) => routes.choose_account(agent, wish),
            None => routes.choose(wish),
        };
        chosen.map_err(|refusal| match refusal {
            RouteRefusal::NoAgent => AttemptError::NoAgent { role: self.role.clone() },
            // It was closed after the task was claimed.
            RouteRefusal::Closed { place, until } => {
                AttemptError::AccountClosed { account: place.account, until }
            }
        })
    }

    /// Once for each place it moves to, not for every step there.
    async fn record_move(
        &self,
        task: &Task,
        routes: &AgentRoutes,
        from: AgentPlace,
        to: AgentPlace,
    ) -> Result<(), EngineError> {
        if task.ledger().session_place.as_ref() == Some(&to) {
            return Ok(());
        }
        let on_account = AgentPlace::hold_name(&from.agent, &from.account);
        let until = [&from.account, &from.agent]
            .into_iter()
            .chain(&on_account)
            .find_map(|name| routes.closed.get(name));
        let reason = match until {
            Some(until) if *until < Timestamp::from_ms(i64::MAX) => {
                format!("{} gets no work until {until}", from.account)
            }
            Some(_) => format!("{} gets no work until a person releases it", from.account),
            None => format!("{} takes no more work now", from.account),
        };
        let reason = NonBlank::or(&reason, task.spec().title.clone());
        let (task, attempt) = (self.task.id(), self.attempt);
        let body = EventBody::AgentMoved { task, attempt, from, to, reason };
        let mut change = Change::new();
        change.events.push(Event { at: self.context.tasks.store.now().await?, by: Actor::Baton, body });
        self.context.tasks.store.commit(change).await?;
        Ok(())
    }
}
