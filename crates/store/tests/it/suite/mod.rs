//! One suite, every backend. A backend is a [`Fixture`]; `conformance!(MyFixture)` makes a test of each function here.
//!
//! A function is generic over the fixture and knows nothing of SQL. What it finds on one backend is a test on all.

pub mod bulk;
pub mod claims;
pub mod edges;
pub mod events;
pub mod fixture;
pub mod histories;
pub mod leases;
pub mod lists;
pub mod make;
pub mod model;
pub mod outbox;
pub mod races;
pub mod rows;
pub mod sharing;
pub mod workers;

pub use fixture::Fixture;

/// Runs one test of the suite on a small runtime of its own.
pub fn run<F: Future<Output = ()>>(test: F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

/// The same for a test of one backend, which says so loudly when it cannot run.
#[expect(clippy::print_stderr, reason = "a test that did not run must not look like one that passed")]
pub fn run_on<P: Fixture>(test: impl Future<Output = ()>) {
    match P::missing() {
        Some(reason) => eprintln!("SKIPPED: {reason}"),
        None => run(test),
    }
}

/// Every test of the suite, for one backend.
macro_rules! conformance {
    ($fixture:ty) => {
        $crate::suite::conformance! { @each $fixture:
            rows::every_kind_of_row_comes_back_as_it_was_written,
            rows::a_receipt_is_given_once,
            rows::every_guard_is_held,
            rows::a_conflict_changes_nothing,
            rows::two_places_know_nothing_of_each_other,
            rows::a_closed_store_says_so,
            bulk::many_tasks_are_read_at_once,
            bulk::edges_of_many_tasks_are_read_at_once,
            bulk::attempts_of_many_tasks_are_read_at_once,
            bulk::questions_of_many_tasks_are_read_at_once,
            bulk::matches_are_counted_up_to_a_bound,
            bulk::the_last_messages_are_read_without_the_first,
            bulk::recent_groups_come_first_and_their_prompts_are_cut,
            claims::the_first_in_order_is_claimed_first,
            claims::a_worker_gets_only_the_roles_it_serves,
            claims::limits_are_counted_over_everything_that_runs,
            claims::a_paused_agent_gets_nothing,
            claims::unaccepted_work_holds_back_new_work_but_not_resumed_work,
            claims::a_claim_is_written_whole,
            claims::sixteen_claimers_share_ten_thousand_tasks,
            edges::a_dependent_is_ready_when_its_last_blocker_is_done,
            edges::an_edge_to_a_done_task_is_met,
            edges::an_edge_to_nothing_is_a_conflict,
            edges::a_circle_is_a_conflict_that_shows_the_way_round,
            edges::a_replaced_task_passes_its_dependents_on,
            edges::a_wide_fan_is_told_in_steps_and_after_a_restart,
            edges::dependents_come_in_pages,
            events::numbers_have_no_gaps_for_any_reader,
            events::a_commit_wakes_every_handle,
            events::a_task_has_its_own_history,
            events::old_history_is_forgotten_but_not_of_open_tasks,
            leases::a_lease_ends_by_the_stores_clock,
            leases::a_renewed_lease_lives_on_and_a_lost_one_is_named,
            leases::the_result_of_a_lost_attempt_is_not_written,
            leases::the_workers_of_many_attempts_are_known_at_once,
            lists::pages_hold_while_rows_come_and_go,
            lists::filters_hold_together,
            lists::a_revised_task_is_found_by_its_new_title_and_in_its_new_place,
            lists::groups_show_their_sessions,
            lists::a_prefix_finds_tasks,
            lists::questions_wait_oldest_first,
            outbox::effects_come_out_in_order_until_they_are_finished,
            races::a_dependent_made_while_its_blocker_completes_is_not_stranded,
            races::a_dependent_made_while_its_blocker_is_replaced_waits_on_the_replacements,
            races::of_two_who_change_one_task_one_is_told,
            races::a_conflict_half_way_takes_no_neighbour_with_it,
            sharing::a_project_and_a_person_have_only_so_many_at_once,
            sharing::a_projects_own_limit_is_kept_with_it_and_stands_over_the_settings,
            sharing::every_end_of_an_attempt_gives_its_place_back,
            sharing::a_full_project_at_the_head_starves_nobody,
            sharing::what_does_not_fit_takes_no_place,
            sharing::shares_follow_what_is_ready,
            sharing::sixteen_claimers_never_exceed_a_limit,
            workers::a_worker_is_known_from_its_first_beat_until_it_leaves,
            workers::a_lock_has_one_holder_until_it_is_let_go_or_runs_out,
            workers::a_worker_gets_only_what_fits_it,
            workers::what_does_not_fit_is_stepped_over_however_much_of_it_there_is,
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
