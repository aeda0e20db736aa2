//! Questions to the human: what may be asked, when, and whose answer counts.
//!
//! The ask cycle (I6, I7) and the order of answer sources are here. What an answer does to a task is in
//! [`transition`](crate::transition).

pub mod answer_memory;
pub mod answer_source;
pub mod choice;
pub mod cycle;
pub mod detection;
pub mod fallback;
pub mod question;
pub mod question_record;
pub mod queued_answer;
pub mod refusal;
pub mod stand_alone;
pub mod stop_words;
