//! The settings for the work of one project, where one Baton serves several.
//!
//! A project decides how its work is made, checked and accepted. Which agents there are, how many run, and how people are
//! reached belongs to the person who runs Baton.

use baton_core::task::fence::FenceMode;

use crate::settings::Settings;
use crate::settings::budgets::Budgets;
use crate::settings::fence::FenceSettings;
use crate::settings::permissions::PermissionSettings;

impl Settings {
    /// These settings, with everything that a project decides taken from its `own`.
    pub fn with_project(&self, own: Self) -> Self {
        let mut settings = self.clone();
        for role in settings.roles.values_mut() {
            role.max_turns = None;
            role.permissions = PermissionSettings::default();
            role.fence = FenceSettings::default();
        }
        for (name, of_project) in own.roles {
            let role = settings.roles.entry(name).or_default();
            role.max_turns = of_project.max_turns;
            role.permissions = of_project.permissions;
            role.fence = of_project.fence;
        }
        for (name, agent) in &mut settings.agents {
            // With a fallback's model it is the same agent.
            let of_model = || own.agents.get(agent.model_of.as_ref()?);
            let of_project = own.agents.get(name).or_else(of_model);
            agent.permissions = of_project.map(|own| own.permissions.clone()).unwrap_or_default();
            // What the agent needs to run stays, and what confines it more than the project does (I21). Whatever else there is
            // about its fence is the project's.
            agent.fence.fence = agent.fence.fence.filter(|mode| mode.is_stricter_than(own.fence));
            agent.fence.network = agent.fence.network.filter(|network| network.is_stricter_than(own.network));
            // A limit of the network needs a fence.
            if agent.fence.network.is_some() && agent.fence.fence.unwrap_or(own.fence) == FenceMode::Off {
                let fence = Some(settings.fence).filter(|mode| *mode != FenceMode::Off);
                agent.fence.fence = Some(fence.unwrap_or(FenceMode::Auto));
            }
            agent.fence.network_ask = agent.fence.network_ask.filter(|_| agent.fence.network.is_some());
            if let Some(of_project) = of_project {
                agent.fence = of_project.fence.or(&agent.fence);
            }
        }
        // A day's budget is for everything that runs here.
        settings.budgets = Budgets { day: settings.budgets.day, ..own.budgets };
        settings.progress = own.progress;
        settings.checks = own.checks;
        settings.check_timeout_seconds = own.check_timeout_seconds;
        settings.large_file_megabytes = own.large_file_megabytes;
        settings.projects = own.projects;
        settings.worktree = own.worktree;
        settings.hooks = own.hooks;
        settings.recycle = own.recycle;
        settings.protect = own.protect;
        settings.accept_when = own.accept_when;
        settings.asking = own.asking;
        settings.user_tasks = own.user_tasks;
        settings.start_on = own.start_on;
        settings.fence = own.fence;
        settings.network = own.network;
        settings
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use baton_core::base::accept_policy::AcceptPolicy;
    use baton_core::base::text::{AgentName, Role};
    use baton_core::task::fence::NetworkMode;

    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::parse(text, Path::new("baton.toml")).unwrap()
    }

    #[test]
    fn a_project_decides_about_its_work_and_whoever_serves_it_about_agents() {
        let serving = settings(
            "default_agent = \"mine\"\nmax_agents = 7\nchecks = [\"test\"]\naccept_when = \"green\"\nprotect = [\"ours\"]\n\
             fence = \"off\"\n[worktree]\nsetup = \"prepare\"\n[budgets.task]\nturns = 9\n[budgets.day]\nturns = 90\n\
             [roles.implement]\nmax = 2\nmax_turns = 3\nfence = \"off\"\n\
             [agents.mine]\nkind = \"command\"\ncommand = [\"true\"]\nfence = \"off\"\nfence_read = [\"/data\"]\n\
             [agents.other]\nkind = \"command\"\ncommand = [\"true\"]\nfence = \"strict\"\n\
             [agents.offline]\nkind = \"command\"\ncommand = [\"true\"]\nnetwork = \"none\"\n[asking]\nunattended = \"default\"\n",
        );
        let own = settings(
            "default_agent = \"other\"\nmax_agents = 1\nchecks = [\"lint\"]\nfence = \"strict\"\n[budgets.task]\nturns = 4\n[budgets.day]\nturns = 1\n\
             [roles.review]\nmax_turns = 5\n[agents.other]\nkind = \"command\"\ncommand = [\"false\"]\nfence = \"off\"\n",
        );
        let both = serving.with_project(own);
        assert_eq!(both.checks.user_tasks().collect::<Vec<_>>(), ["lint"]);
        assert_eq!(both.accept_when, AcceptPolicy::Person, "the serving repository's does not leak");
        assert_eq!((both.worktree.setup, both.protect), (None, vec![".agent/**".to_owned()]));
        assert_eq!(both.budgets.task.turns, Some(4));
        assert_eq!(both.budgets.day.turns, Some(90));
        assert_eq!(both.fence, FenceMode::Strict);
        let (implement, review) = (&both.roles[&Role::implement()], &both.roles[&"review".parse().unwrap()]);
        assert_eq!((implement.max, implement.max_turns, implement.fence.fence), (Some(2), None, None));
        assert_eq!(review.max_turns, Some(5));
        let agent = |name: &str| &both.agents[&name.parse::<AgentName>().unwrap()];
        assert_eq!((agent("mine").fence.fence, agent("other").fence.fence), (None, Some(FenceMode::Off)));
        assert_eq!(agent("offline").fence.network, Some(NetworkMode::None), "what confines it stays");
        assert_eq!(agent("mine").fence.fence_read, Some(vec!["/data".into()]), "what it needs to run");
        assert_eq!(agent("other").command, ["true"], "a project does not choose programs");
        assert_eq!(both.asking.policy(), None);
        assert_eq!((both.max_agents, both.default_agent.as_str()), (7, "mine"));
        // A limit of the network holds also where the project wants no fence.
        let open = serving.with_project(settings("fence = \"off\"\nnetwork = \"open\"\n"));
        let offline = &open.agents[&"offline".parse::<AgentName>().unwrap()];
        let kept = (offline.fence.fence, offline.fence.network);
        assert_eq!(kept, (Some(FenceMode::Auto), Some(NetworkMode::None)));
    }
}
