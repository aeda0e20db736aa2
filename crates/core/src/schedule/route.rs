//! Which agent and which account a task is given to.
//!
//! An agent works on one of its accounts. A limit of the provider closes an account for a while; the work then moves to the
//! next account, or to an agent that the settings name as a fallback: one hop, never a chain. A task stays where its session
//! is as long as it can. Without anywhere to go it waits for the account that opens first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::base::text::{AgentName, Role};
use crate::base::time::Timestamp;

/// An agent on one of its accounts. An agent without accounts has one of its own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentPlace {
    pub agent: AgentName,
    pub account: AgentName,
}

impl AgentPlace {
    /// The name of a hold on this agent on this account, which is on neither of them elsewhere: `claude-on-work`. None where
    /// they are one, or where the names together are too long.
    pub fn hold_name(agent: &AgentName, account: &AgentName) -> Option<AgentName> {
        (agent != account).then(|| format!("{agent}-on-{account}").parse().ok()).flatten()
    }
}

/// What one agent works on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentRoute {
    /// In the order they are used; empty for an agent with one account of its own name.
    pub accounts: Vec<AgentName>,
    /// Agents that take its work while none of its accounts is open.
    pub fallback: Vec<AgentName>,
}

/// Everything the choice depends on, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRoutes {
    pub roles: BTreeMap<Role, AgentName>,
    pub agents: BTreeMap<AgentName, AgentRoute>,
    /// Agents and accounts that get no work before then.
    pub closed: BTreeMap<AgentName, Timestamp>,
    pub now: Timestamp,
}

/// Without agents nothing is chosen: the caller goes by the role alone.
impl Default for AgentRoutes {
    fn default() -> Self {
        Self {
            roles: BTreeMap::new(),
            agents: BTreeMap::new(),
            closed: BTreeMap::new(),
            now: Timestamp::from_ms(0),
        }
    }
}

/// What a task asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteWish<'a> {
    pub role: &'a Role,
    /// The agent a person chose, over that of the role.
    pub agent: Option<&'a AgentName>,
    /// Only that agent will do.
    pub no_fallback: bool,
    /// Where the session is that it goes on in.
    pub session: Option<&'a AgentPlace>,
    /// An account it must not use.
    pub not_on: Option<&'a AgentName>,
}

/// Why nobody takes it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteRefusal {
    /// No agent is set up for it here.
    NoAgent,
    /// Everything it may use is closed; `until` is when the first opens.
    Closed { place: AgentPlace, until: Timestamp },
}

impl AgentRoutes {
    /// One agent on one account leaves nothing to choose.
    pub fn is_plain(&self) -> bool {
        let has_choice = |route: &AgentRoute| !route.accounts.is_empty() || !route.fallback.is_empty();
        self.agents.len() < 2 && !self.agents.values().any(has_choice)
    }

    /// Where the task would go if everything was open.
    pub fn preferred(&self, wish: &RouteWish<'_>) -> Option<AgentPlace> {
        let places = self.places(wish);
        let of_session = wish.session.filter(|place| places.contains(place));
        of_session.or(places.first()).cloned()
    }

    /// Where the task goes now.
    pub fn choose(&self, wish: &RouteWish<'_>) -> Result<AgentPlace, RouteRefusal> {
        let places = self.places(wish);
        let of_session = wish.session.filter(|place| places.contains(place));
        let in_order = of_session.into_iter().chain(&places);
        let mut first_to_open: Option<(&AgentPlace, Timestamp)> = None;
        for place in in_order {
            let Some(until) = self.closed_until(place) else { return Ok(place.clone()) };
            if first_to_open.is_none_or(|(_, earliest)| until < earliest) {
                first_to_open = Some((place, until));
            }
        }
        Err(match first_to_open {
            Some((place, until)) => RouteRefusal::Closed { place: place.clone(), until },
            None => RouteRefusal::NoAgent,
        })
    }

    /// An account of this very agent, whatever else the task may use.
    pub fn choose_account(
        &self,
        agent: &AgentName,
        wish: &RouteWish<'_>,
    ) -> Result<AgentPlace, RouteRefusal> {
        self.choose(&RouteWish { agent: Some(agent), no_fallback: true, ..*wish })
    }

    /// Whether the agent could start nothing now.
    pub fn is_closed(&self, agent: &AgentName) -> bool {
        // The role decides nothing where the agent is named.
        let role = Role::implement();
        let wish =
            RouteWish { role: &role, agent: Some(agent), no_fallback: true, session: None, not_on: None };
        self.choose(&wish).is_err()
    }

    /// When the place opens, if it is closed. A closed agent closes all its accounts.
    fn closed_until(&self, place: &AgentPlace) -> Option<Timestamp> {
        let until = |name: &AgentName| self.closed.get(name).copied().filter(|until| self.now < *until);
        let of_both = AgentPlace::hold_name(&place.agent, &place.account).and_then(|name| until(&name));
        until(&place.agent).max(until(&place.account)).max(of_both)
    }

    /// Every place the task may use, the best first, each once.
    fn places(&self, wish: &RouteWish<'_>) -> Vec<AgentPlace> {
        let Some(first) = wish.agent.or_else(|| self.roles.get(wish.role)) else { return Vec::new() };
        let fallback = self.agents.get(first).map(|route| route.fallback.as_slice()).unwrap_or_default();
        let others = fallback.iter().filter(|_| !wish.no_fallback);
        let mut seen = BTreeSet::new();
        let mut places = Vec::new();
        for agent in std::iter::once(first).chain(others).filter(|agent| seen.insert(*agent)) {
            let Some(route) = self.agents.get(agent) else { continue };
            let own = std::slice::from_ref(agent);
            let accounts = if route.accounts.is_empty() { own } else { &route.accounts };
            let of_agent =
                |account: &AgentName| AgentPlace { agent: agent.clone(), account: account.clone() };
            places.extend(accounts.iter().filter(|name| wish.not_on != Some(*name)).map(of_agent));
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000);

    fn name(text: &str) -> AgentName {
        text.parse().unwrap()
    }

    fn names(all: &[&str]) -> Vec<AgentName> {
        all.iter().map(|text| name(text)).collect()
    }

    fn place(agent: &str, account: &str) -> AgentPlace {
        AgentPlace { agent: name(agent), account: name(account) }
    }

    /// claude has two accounts and falls back to codex, which falls back to goose.
    fn routes(closed: &[(&str, i64)]) -> AgentRoutes {
        let route = |accounts: &[&str], fallback: &[&str]| AgentRoute {
            accounts: names(accounts),
            fallback: names(fallback),
        };
        AgentRoutes {
            roles: [(Role::implement(), name("claude"))].into(),
            agents: [
                (name("claude"), route(&["work", "home"], &["codex"])),
                (name("codex"), route(&[], &["goose"])),
                (name("goose"), route(&[], &[])),
            ]
            .into(),
            closed: closed.iter().map(|(of, until)| (name(of), Timestamp::from_ms(*until))).collect(),
            now: NOW,
        }
    }

    #[test]
    fn work_goes_to_the_session_then_the_next_account_then_one_fallback() {
        let role = Role::implement();
        let (claude, goose, other) = (name("claude"), name("goose"), name("other"));
        let (at_home, at_codex) = (place("claude", "home"), place("codex", "codex"));
        let wish = RouteWish { role: &role, agent: None, no_fallback: false, session: None, not_on: None };
        let work = name("work");
        let in_home = RouteWish { session: Some(&at_home), ..wish };
        let in_codex = RouteWish { session: Some(&at_codex), ..wish };
        let only_claude = RouteWish { agent: Some(&claude), no_fallback: true, ..wish };
        let closed = |agent: &str, account: &str, until: i64| {
            Err(RouteRefusal::Closed { place: place(agent, account), until: Timestamp::from_ms(until) })
        };
        for (holds, wish, expected) in [
            (&[][..], wish, Ok(place("claude", "work"))),
            (&[], in_home, Ok(at_home.clone())),
            (&[], in_codex, Ok(at_codex.clone())),
            (&[("work", 2_000)], wish, Ok(at_home.clone())),
            (&[("home", 2_000)], in_home, Ok(place("claude", "work"))),
            (&[("work", 2_000), ("home", 3_000)], wish, Ok(at_codex.clone())),
            // A hold that is over holds nothing.
            (&[("work", 1_000)], wish, Ok(place("claude", "work"))),
            // A closed agent closes its accounts.
            (&[("claude", 2_000)], wish, Ok(at_codex.clone())),
            (&[("claude", 2_000)], only_claude, closed("claude", "work", 2_000)),
            // One hop: the fallback's own fallback is not asked.
            (&[("claude", 2_000), ("codex", 3_000)], wish, closed("claude", "work", 2_000)),
            (&[("work", 4_000), ("home", 3_000)], only_claude, closed("claude", "home", 3_000)),
            (&[("codex", 2_000)], in_codex, Ok(place("claude", "work"))),
            (&[("claude", 2_000)], RouteWish { agent: Some(&goose), ..wish }, Ok(place("goose", "goose"))),
            (&[], RouteWish { not_on: Some(&work), ..wish }, Ok(at_home.clone())),
            (&[("home", 2_000)], RouteWish { not_on: Some(&work), ..wish }, Ok(at_codex.clone())),
            (&[], RouteWish { agent: Some(&other), ..wish }, Err(RouteRefusal::NoAgent)),
            (&[], RouteWish { role: &Role::breakdown(), ..wish }, Err(RouteRefusal::NoAgent)),
        ] {
            assert_eq!(routes(holds).choose(&wish), expected, "{holds:?} {wish:?}");
        }
    }

    #[test]
    fn a_session_of_an_agent_that_the_task_may_not_use_binds_nobody() {
        let role = Role::implement();
        let elsewhere = place("goose", "goose");
        let wish = RouteWish {
            role: &role,
            agent: None,
            no_fallback: false,
            session: Some(&elsewhere),
            not_on: None,
        };
        assert_eq!(routes(&[]).choose(&wish), Ok(place("claude", "work")));
        assert_eq!(routes(&[]).preferred(&wish), Some(place("claude", "work")));
    }

    fn closed_names() -> impl Strategy<Value = Vec<(&'static str, i64)>> {
        let name = prop::sample::select(vec!["claude", "codex", "goose", "work", "home"]);
        prop::collection::vec((name, 0_i64..5_000), 0..6)
    }

    proptest! {
        #[test]
        fn what_is_chosen_is_open_and_may_be_used(closed in closed_names(), fixed: bool, in_home: bool) {
            let (role, at_home) = (Role::implement(), place("claude", "home"));
            let session = in_home.then_some(&at_home);
            let wish = RouteWish { role: &role, agent: None, no_fallback: fixed, session, not_on: None };
            let routes = routes(&closed);
            let allowed = routes.places(&wish);
            match routes.choose(&wish) {
                Ok(chosen) => {
                    prop_assert!(allowed.contains(&chosen));
                    prop_assert_eq!(routes.closed_until(&chosen), None);
                    // A task stays in its session where it can.
                    let is_home_open = routes.closed_until(&at_home).is_none();
                    prop_assert!(!in_home || !is_home_open || chosen == at_home);
                }
                Err(RouteRefusal::Closed { until, .. }) => {
                    prop_assert!(until > NOW);
                    let ends: Vec<_> = allowed.iter().map(|place| routes.closed_until(place)).collect();
                    prop_assert!(ends.iter().all(|end| end.is_some_and(|end| end >= until)));
                    // At that time it starts without a person.
                    let then = AgentRoutes { now: until, ..routes };
                    prop_assert!(then.choose(&wish).is_ok());
                }
                Err(RouteRefusal::NoAgent) => prop_assert!(false, "there is an agent"),
            }
        }
    }
}
