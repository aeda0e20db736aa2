//! The conformance suite. A backend provides a [`Fixture`]; `conformance!(MyFixture)` creates a test for each
//! function here.
//!
//! The functions are generic over the fixture and contain no SQL.

pub(crate) mod bulk;
pub(crate) mod claims;
pub(crate) mod edges;
pub(crate) mod events;
pub(crate) mod fixture;
pub(crate) mod histories;
pub(crate) mod leases;
pub(crate) mod lists;
pub(crate) mod make;
pub(crate) mod model;
pub(crate) mod outbox;
pub(crate) mod races;
pub(crate) mod rows;
pub(crate) mod sharing;
pub(crate) mod workers;

pub(crate) use fixture::Fixture;

/// Runs one test on its own small runtime.
pub(crate) fn run<F: Future<Output = ()>>(test: F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

/// The same for one backend; reports it if the backend is missing.
#[expect(clippy::print_stderr, reason = "a test that did not run must not look like one that passed")]
pub(crate) fn run_on<P: Fixture>(test: impl Future<Output = ()>) {
    match P::missing() {
        Some(reason) => eprintln!("SKIPPED: {reason}"),
        None => run(test),
    }
}

/// Every test of the suite, for one backend.
macro_rules! conformance {
    ($fixture:ty) => {
        $crate::suite::conformance! { @each $fixture:
            rows::every_kind_of_row_round_trips,
            rows::runs_are_listed_newest_first_by_session_and_state,
            rows::a_receipt_is_written_once,
            rows::every_guard_is_checked,
            rows::a_conflict_changes_nothing,
            rows::two_stores_are_isolated,
            rows::a_closed_store_returns_closed,
            bulk::many_tasks_are_read_at_once,
            bulk::edges_of_many_tasks_are_read_at_once,
            bulk::attempts_of_many_tasks_are_read_at_once,
            bulk::questions_of_many_tasks_are_read_at_once,
            bulk::matches_are_counted_up_to_a_bound,
            bulk::the_last_messages_are_read_without_the_first,
            bulk::recent_groups_come_first_and_their_prompts_are_cut,
            claims::claims_follow_the_order,
            claims::a_worker_gets_only_the_roles_it_serves,
            claims::limits_count_everything_that_is_running,
            claims::a_paused_agent_claims_nothing,
            claims::backpressure_stops_new_work_but_not_resumed_work,
            claims::a_claim_is_atomic,
            claims::sixteen_claimers_share_ten_thousand_tasks,
            edges::a_dependent_is_ready_when_its_last_blocker_is_done,
            edges::an_edge_to_a_done_task_is_met,
            edges::an_edge_to_an_unknown_task_is_a_conflict,
            edges::a_cycle_is_a_conflict_with_its_path,
            edges::dependents_of_a_replaced_task_are_rewired,
            edges::a_wide_fan_out_is_unblocked_in_steps_and_after_a_restart,
            edges::dependents_are_paged,
            events::event_numbers_have_no_gaps,
            events::a_commit_wakes_every_handle,
            events::events_are_listed_per_task,
            events::old_events_are_pruned_except_of_open_tasks,
            events::old_verdicts_are_pruned,
            leases::leases_expire_by_the_stores_clock,
            leases::renewing_returns_the_lost_leases,
            leases::the_result_of_a_lost_attempt_is_not_written,
            leases::workers_of_many_attempts_are_read_at_once,
            lists::pages_are_stable_while_rows_change,
            lists::filters_combine,
            lists::a_text_is_found_in_titles_and_descriptions,
            lists::tasks_are_found_by_type_and_agent,
            lists::a_revision_updates_title_and_order,
            lists::groups_summarise_their_sessions,
            lists::a_prefix_finds_tasks,
            lists::questions_are_listed_oldest_first,
            outbox::effects_are_listed_in_order_until_finished,
            races::a_dependent_created_while_its_blocker_completes_becomes_ready,
            races::a_dependent_created_while_its_blocker_is_replaced_is_rewired,
            races::one_of_two_concurrent_changes_conflicts,
            races::a_conflict_does_not_affect_its_batch,
            sharing::limits_per_project_and_person_are_enforced,
            sharing::a_projects_own_limit_overrides_the_settings,
            sharing::every_end_of_an_attempt_frees_its_place,
            sharing::a_full_project_does_not_starve_others,
            sharing::tasks_that_do_not_fit_use_no_capacity,
            sharing::shares_follow_what_is_ready,
            sharing::sixteen_claimers_never_exceed_a_limit,
            workers::a_worker_is_listed_from_first_heartbeat_until_forgotten,
            workers::a_lock_has_one_holder_until_released_or_expired,
            workers::a_worker_claims_only_tasks_that_fit,
            workers::any_number_of_unfit_tasks_is_skipped,
            workers::what_a_run_works_through_is_left_to_it,
            histories::random_histories_match_the_model,
        }
    };
    (@each $fixture:ty: $($module:ident :: $name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $crate::suite::run_on::<$fixture>($crate::suite::$module::$name::<$fixture>());
            }
        )*
    };
}
pub(crate) use conformance;
