//! Messages of people to a task's agent, as far as the task has to know them: their numbers in its session.

use serde::{Deserialize, Serialize};

/// The texts are messages of the session with the task's id. Some numbers in between are messages about other tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMessages {
    /// The first and the last message.
    pub first: u32,
    pub last: u32,
    /// The last one that an agent got; 0 before the first.
    pub delivered: u32,
}

impl TaskMessages {
    pub(crate) fn with(earlier: Option<Self>, number: u32) -> Self {
        match earlier {
            Some(known) => Self { last: known.last.max(number), ..known },
            None => Self { first: number, last: number, delivered: 0 },
        }
    }

    /// Never goes back: what an agent got stays delivered.
    pub(crate) fn deliver(&mut self, number: u32) {
        self.delivered = self.delivered.max(number.min(self.last));
    }

    /// Whether a message waits for an agent.
    pub const fn has_queued(&self) -> bool {
        self.delivered < self.last
    }

    /// Whether an agent got this message.
    pub const fn is_delivered(&self, number: u32) -> bool {
        number <= self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_until_it_is_delivered_and_stays_delivered() {
        let mut messages = TaskMessages::with(None, 4);
        assert!(messages.has_queued());
        messages.deliver(9);
        assert!(!messages.has_queued(), "nothing after the last can be delivered");
        assert_eq!(messages.delivered, 4);
        let mut messages = TaskMessages::with(Some(messages), 7);
        assert_eq!((messages.first, messages.last), (4, 7));
        assert!(messages.has_queued() && messages.is_delivered(4) && !messages.is_delivered(7));
        messages.deliver(2);
        assert_eq!(messages.delivered, 4);
    }
}
