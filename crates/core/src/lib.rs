//! The rules of Baton, as values.
//!
//! Everything the product promises is decided here, and nothing is done here: no files, no network, no
//! clock, no randomness. A rule takes the state, what happened and the time, and returns the new state
//! with the events that tell of it and the effects the engine must carry out, or a refusal that says why.

pub mod actor;
pub mod answer_memory;
pub mod answer_source;
pub mod approval;
pub mod ask_cycle;
pub mod ask_refusal;
pub mod asking_text;
pub mod attempt;
pub mod attempt_record;
pub mod breakdown;
pub mod budget;
pub mod change;
pub mod choice;
pub mod command;
pub mod detection;
pub mod diagram;
pub mod discovered;
pub mod effect;
pub mod event;
pub mod exit_reason;
pub mod fallback;
pub mod git_name;
pub mod graph;
pub mod guard;
pub mod handoff;
pub mod hold;
pub mod id;
pub mod loop_refusal;
pub mod loop_summary;
pub mod outcome;
pub mod outcome_parser;
pub mod owner_token;
pub mod phase;
pub mod phase_loop;
pub mod phase_work;
pub mod plan_record;
pub mod priority;
pub mod project;
pub mod question;
pub mod question_record;
pub mod queued_answer;
pub mod rebreakdown;
pub mod receipt;
pub mod recipe;
pub mod recycle;
pub mod redact;
pub mod refusal;
pub mod reminder;
pub mod run;
pub mod schedule;
pub mod session;
pub mod spending;
pub mod state;
pub mod subtask;
pub mod task;
pub mod task_type;
pub mod text;
pub mod time;
pub mod title;
pub mod toolset;
pub mod transition;
pub mod vagueness;
