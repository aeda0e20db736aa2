//! All services and all kinds of items. A test injects a failure into each.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! names {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident => $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type {
            $($(#[$doc])* $variant,)*
        }

        impl $type {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

names! {
    /// The name of a background service in health reports, events and logs.
    ServiceName {
        AutoResponder => "auto_responder",
        Changes => "changes",
        Dispatcher => "dispatcher",
        Follower => "follower",
        Heartbeat => "heartbeat",
        Landing => "landing",
        Leader => "leader",
        Leases => "leases",
        LogRelay => "log_relay",
        Loops => "loops",
        Notifier => "notifier",
        Outbox => "outbox",
        Pruner => "pruner",
        Push => "push",
        Recycler => "recycler",
        Room => "room",
        Routines => "routines",
        Runs => "runs",
        Timers => "timers",
        WorktreePool => "worktree_pool",
        WorktreeRemover => "worktree_remover",
    }
}

names! {
    /// What a service works on.
    ItemKind {
        Attempt => "attempt",
        /// A finished task that is being accepted, for a loop or by a policy.
        Landing => "landing",
        /// The tasks that wait to land on one branch.
        Lane => "lane",
        Lease => "lease",
        Log => "log",
        Loop => "loop",
        Notice => "notice",
        Prune => "prune",
        Push => "push",
        Question => "question",
        Recycle => "recycle",
        /// A worktree that nobody needs any more.
        Removal => "removal",
        Routine => "routine",
        Run => "run",
        Timer => "timer",
        Worktree => "worktree",
    }
}
