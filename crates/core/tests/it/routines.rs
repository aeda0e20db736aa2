//! Routines over hundreds of days: with kills, changes of the clocks, a clock that jumps, and several machines.

use std::collections::BTreeMap;

use baton_core::base::id::{RoutineId, TaskId};
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::routine::cause::Cause;
use baton_core::routine::firing::Firing;
use baton_core::routine::schedule::Schedule;
use baton_core::routine::{CatchUp, Overlap, Routine, RoutineRun, RoutineState, RoutineTask, Trigger};
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use proptest::prelude::*;

const DAYS: i64 = 400;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// 1 November 2026, so that the clocks change several times.
const START_MS: i64 = 1_793_491_200_000;

fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

fn routine(schedule: &str, overlap: Overlap, catch_up: CatchUp) -> Routine {
    let routine = Routine {
        id: RoutineId::from_bits(7),
        task: RoutineTask {
            title: NonBlank::new("Update dependencies").unwrap(),
            description: String::new(),
            project_id: None,
            task_type: TaskType::Implementation,
            priority: baton_core::base::priority::Priority::default(),
            recipe: None,
        },
        trigger: Trigger::Time {
            schedule: Schedule::every(schedule).unwrap(),
            time_zone: NonBlank::new("Europe/Berlin").unwrap(),
            catch_up,
        },
        overlap,
        state: RoutineState::Active,
        created_at: Timestamp::from_ms(START_MS),
        created_by: Actor::human("mia"),
        next_at: None,
        waiting: Vec::new(),
        last: None,
        run_count: 0,
        skipped_count: 0,
    };
    routine.resume(Timestamp::from_ms(START_MS), &berlin())
}

/// Every moment that is due, counted day by day and without the schedule: at `hour:30`, on every day or on one.
fn expected(hour: i8, day: Option<Weekday>, end: Timestamp) -> Vec<Timestamp> {
    let zone = berlin();
    let first = zone.to_datetime(jiff::Timestamp::from_millisecond(START_MS).unwrap()).date();
    let mut moments = Vec::new();
    for number in 0..=DAYS {
        let date = first.checked_add(jiff::Span::new().days(number)).unwrap();
        let at = zone.to_ambiguous_timestamp(date.at(hour, 30, 0, 0)).compatible().unwrap();
        let at = Timestamp::from_ms(at.as_millisecond());
        if day.is_none_or(|day| date.weekday() == day) && at.ms() > START_MS && at <= end {
            moments.push(at);
        }
    }
    moments
}

/// What the store keeps: the row with its version, and what became of each cause.
struct World {
    version: u64,
    routine: Routine,
    ran: BTreeMap<Timestamp, u32>,
    skipped: BTreeMap<Timestamp, u32>,
    is_busy: bool,
    tasks: u32,
}

impl World {
    /// The transaction: refused if the row has changed since it was read.
    fn commit(&mut self, read_at: u64, firing: &Firing) -> bool {
        if read_at != self.version {
            return false;
        }
        self.version += 1;
        self.routine = firing.routine.clone();
        let at = |cause: &Cause| match cause {
            Cause::Instant { at } => *at,
            other => panic!("{other:?}"),
        };
        if let Some(cause) = &firing.run {
            *self.ran.entry(at(cause)).or_default() += 1;
            self.tasks += 1;
            let task_id = TaskId::from_bits(self.tasks);
            self.routine.last = Some(RoutineRun { cause: cause.clone(), task_id, at: at(cause) });
            self.is_busy = true;
        }
        for cause in &firing.skipped {
            *self.skipped.entry(at(cause)).or_default() += 1;
        }
        true
    }
}

/// One look at the routine.
#[derive(Debug, Clone)]
struct Look {
    /// Until the next look: minutes to days, while Baton is down.
    wait_ms: i64,
    /// How far the clock is off.
    skew_ms: i64,
    /// Killed before the transaction.
    is_killed: bool,
    /// Another machine looks at the same moment, and believes that it leads.
    has_rival: bool,
    /// The task of the last run has ended meanwhile.
    has_ended: bool,
}

fn looks() -> impl Strategy<Value = Vec<Look>> {
    let hours = |hours: i64| hours * 60 * 60 * 1_000;
    let look = (
        prop_oneof![8 => 60_000..hours(6), 1 => hours(6)..hours(24 * 9)],
        prop_oneof![6 => Just(0), 1 => -hours(3)..hours(3)],
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.8),
    );
    let look = look.prop_map(|(wait_ms, skew_ms, is_killed, has_rival, has_ended)| Look {
        wait_ms,
        skew_ms,
        is_killed,
        has_rival,
        has_ended,
    });
    prop::collection::vec(look, 50..400)
}

fn simulate(routine: Routine, looks: &[Look]) -> World {
    let zone = berlin();
    let end = START_MS + DAYS * DAY_MS;
    let mut world = World {
        version: 1,
        routine,
        ran: BTreeMap::new(),
        skipped: BTreeMap::new(),
        is_busy: false,
        tasks: 0,
    };
    let mut clock = START_MS;
    for look in looks.iter().cycle() {
        clock += look.wait_ms;
        if clock >= end {
            break;
        }
        // A clock that is off never shows a time beyond the end, where nothing is counted.
        let now = Timestamp::from_ms((clock + look.skew_ms).min(end));
        world.is_busy &= !look.has_ended;
        let decide =
            |world: &World| (world.version, world.routine.fire(Vec::new(), world.is_busy, now, &zone));
        let (own, rival) = (decide(&world), decide(&world));
        if look.is_killed {
            continue;
        }
        let is_done = world.commit(own.0, &own.1);
        assert!(is_done);
        if look.has_rival {
            assert!(!world.commit(rival.0, &rival.1), "the second transaction is refused");
        }
    }
    // The end: everything is up again, and every task ends.
    loop {
        world.is_busy = false;
        let before = world.routine.clone();
        let (version, firing) =
            (world.version, world.routine.fire(Vec::new(), false, Timestamp::from_ms(end), &zone));
        world.commit(version, &firing);
        if firing.run.is_none() && firing.routine == before {
            return world;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Every moment runs once: through kills, rivals, changes of the clocks, and a clock that jumps.
    #[test]
    fn every_moment_of_four_hundred_days_runs_once(
        looks in looks(),
        is_weekly in any::<bool>(),
        hour in prop::sample::select(vec![1_i8, 2, 3, 6]),
    ) {
        let words = if is_weekly { format!("Sun {hour}:30") } else { format!("{hour}:30") };
        let world = simulate(routine(&words, Overlap::Queue, CatchUp::All), &looks);
        let day = is_weekly.then_some(Weekday::Sunday);
        let wanted = expected(hour, day, Timestamp::from_ms(START_MS + DAYS * DAY_MS));
        prop_assert_eq!(world.ran.keys().copied().collect::<Vec<_>>(), wanted);
        prop_assert!(world.ran.values().all(|times| *times == 1));
        prop_assert!(world.skipped.is_empty());
    }

    /// Whatever a person chose: every moment either runs or is counted as skipped, once.
    #[test]
    fn every_moment_is_decided_once_whatever_was_chosen(
        looks in looks(),
        overlap in prop::sample::select(Overlap::ALL.to_vec()),
        catch_up in prop::sample::select(CatchUp::ALL.to_vec()),
    ) {
        let world = simulate(routine("2:30", overlap, catch_up), &looks);
        let mut decided = world.ran.clone();
        for (at, times) in &world.skipped {
            *decided.entry(*at).or_default() += times;
        }
        let wanted = expected(2, None, Timestamp::from_ms(START_MS + DAYS * DAY_MS));
        prop_assert_eq!(decided.keys().copied().collect::<Vec<_>>(), wanted);
        prop_assert!(decided.values().all(|times| *times == 1));
        prop_assert_eq!(world.routine.run_count, world.ran.len() as u64);
        prop_assert_eq!(world.routine.skipped_count, world.skipped.len() as u64);
    }
}

#[test]
fn missed_moments_are_caught_up_as_chosen() {
    let hour_ms = 60 * 60 * 1_000;
    // Three hours late: three moments were missed, and the fourth is due right now.
    for (catch_up, late, on_time) in [(CatchUp::None, 0, 1), (CatchUp::One, 1, 1), (CatchUp::All, 3, 4)] {
        let routine = routine("hour", Overlap::Queue, catch_up);
        let first = routine.next_at.unwrap();
        let missed = routine.fire(Vec::new(), true, first.plus_ms(3 * hour_ms - 60_000), &berlin());
        assert_eq!(missed.routine.waiting.len(), late, "{catch_up}");
        assert_eq!(missed.skipped.len(), 3 - late, "{catch_up}");
        let due = routine.fire(Vec::new(), true, first.plus_ms(3 * hour_ms), &berlin());
        assert_eq!(due.routine.waiting.len(), on_time, "{catch_up}");
    }
}

#[test]
fn a_run_that_is_not_over_is_skipped_waited_for_or_replaced() {
    for (overlap, waits, skips, replaces) in
        [(Overlap::Skip, 0, 1, false), (Overlap::Queue, 1, 0, false), (Overlap::Replace, 0, 0, true)]
    {
        let routine = routine("hour", overlap, CatchUp::One);
        let firing = routine.fire(Vec::new(), true, routine.next_at.unwrap(), &berlin());
        assert_eq!(firing.routine.waiting.len(), waits, "{overlap}");
        assert_eq!(firing.skipped.len(), skips, "{overlap}");
        assert_eq!((firing.replaces, firing.run.is_some()), (replaces, replaces), "{overlap}");
    }
    let queued = routine("hour", Overlap::Queue, CatchUp::One);
    let waiting = queued.fire(Vec::new(), true, queued.next_at.unwrap(), &berlin()).routine;
    let free = waiting.fire(Vec::new(), false, waiting.created_at, &berlin());
    assert_eq!(free.run, Some(Cause::Instant { at: queued.next_at.unwrap() }));
}

#[test]
fn nothing_that_was_missed_is_dropped_where_all_of_it_is_to_take_place() {
    let minute_ms = 60 * 1_000;
    let moments = 1_800;
    let mut routine = routine("1 minute", Overlap::Queue, CatchUp::All);
    let now = routine.next_at.unwrap().plus_ms((moments - 1) * minute_ms);
    let mut ran = Vec::new();
    loop {
        let firing = routine.fire(Vec::new(), false, now, &berlin());
        assert!(firing.skipped.is_empty());
        routine = firing.routine;
        match firing.run {
            Some(Cause::Instant { at }) => ran.push(at),
            Some(_) | None => break,
        }
        // While a task runs nothing changes, however often it is looked at.
        let busy = routine.fire(Vec::new(), true, now, &berlin());
        routine = busy.routine;
        assert!(routine.is_full() || routine.next_at.unwrap() > now);
    }
    assert_eq!(ran.len(), usize::try_from(moments).unwrap());
    assert!(ran.is_sorted() && ran.iter().collect::<std::collections::BTreeSet<_>>().len() == ran.len());
}

#[test]
fn what_waits_outlasts_a_pause() {
    let queued = routine("hour", Overlap::Queue, CatchUp::One);
    let due = queued.next_at.unwrap();
    let waiting = queued.fire(Vec::new(), true, due, &berlin()).routine;
    let paused = waiting.pause(due, Actor::human("mia"));
    let resumed = paused.resume(due, &berlin());
    assert_eq!(resumed.fire(Vec::new(), false, due, &berlin()).run, Some(Cause::Instant { at: due }));
}
