//! The graph against a model that recomputes everything from scratch after every change.

#![expect(clippy::expect_used, reason = "test helpers outside a #[test] function may fail loudly too")]

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::graph::{DependencyStatus, GraphError, Standing, TaskGraph};
use baton_core::records::project;
use proptest::prelude::*;

/// Ids at or above this are never added, so that unknown ids occur too.
const KNOWN: u32 = 10;

fn task(number: u32) -> TaskId {
    TaskId::from_bits(number)
}

fn stand_ins(standing: &Standing) -> Vec<TaskId> {
    match standing {
        Standing::Open | Standing::Done | Standing::Cancelled | Standing::Failed => Vec::new(),
        Standing::Recycled { planning } => vec![*planning],
        Standing::Replaced { by } => by.clone(),
    }
}

#[derive(Debug, Clone)]
enum Op {
    Add(TaskId),
    Edge(TaskId, TaskId),
    Cut(TaskId, TaskId),
    Stand(TaskId, Standing),
    Rewire(TaskId, Vec<TaskId>),
}

fn any_task() -> impl Strategy<Value = TaskId> {
    prop_oneof![40 => 0..KNOWN, 1 => KNOWN..KNOWN + 2].prop_map(task)
}

fn any_standing() -> impl Strategy<Value = Standing> {
    prop_oneof![
        2 => Just(Standing::Open),
        6 => Just(Standing::Done),
        2 => Just(Standing::Cancelled),
        2 => Just(Standing::Failed),
        3 => any_task().prop_map(|planning| Standing::Recycled { planning }),
        4 => prop::collection::vec(any_task(), 0..4).prop_map(|by| Standing::Replaced { by }),
    ]
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => any_task().prop_map(Op::Add),
        10 => (any_task(), any_task()).prop_map(|(a, b)| Op::Edge(a, b)),
        2 => (any_task(), any_task()).prop_map(|(a, b)| Op::Cut(a, b)),
        5 => (any_task(), any_standing()).prop_map(|(a, standing)| Op::Stand(a, standing)),
        2 => (any_task(), prop::collection::vec(any_task(), 0..4)).prop_map(|(a, to)| Op::Rewire(a, to)),
    ]
}

/// The slow, obviously correct model.
#[derive(Debug, Clone, Default)]
struct Model {
    standing: BTreeMap<TaskId, Standing>,
    edges: BTreeSet<(TaskId, TaskId)>,
}

impl Model {
    fn knows(&self, task: TaskId) -> bool {
        self.standing.contains_key(&task)
    }

    fn waits_on(&self, task: TaskId) -> Vec<TaskId> {
        self.edges
            .range((task, TaskId::from_bits(0))..)
            .take_while(|(dependent, _)| *dependent == task)
            .map(|(_, on)| *on)
            .collect()
    }

    fn dependents(&self, task: TaskId) -> Vec<TaskId> {
        self.edges.iter().filter(|(_, on)| *on == task).map(|(dependent, _)| *dependent).collect()
    }

    fn met(&self, task: TaskId) -> bool {
        match &self.standing[&task] {
            Standing::Done => true,
            Standing::Replaced { by } => by.iter().all(|replacement| self.met(*replacement)),
            Standing::Open | Standing::Cancelled | Standing::Failed | Standing::Recycled { .. } => false,
        }
    }

    fn dead(&self, task: TaskId) -> bool {
        match &self.standing[&task] {
            Standing::Done => false,
            Standing::Cancelled => true,
            Standing::Open | Standing::Failed => self.waits_on(task).into_iter().any(|on| self.dead(on)),
            Standing::Recycled { planning } => self.dead(*planning),
            Standing::Replaced { by } => by.iter().any(|replacement| self.dead(*replacement)),
        }
    }

    fn open_blockers(&self, task: TaskId) -> usize {
        self.waits_on(task).into_iter().filter(|on| !self.met(*on)).count()
    }

    fn ready(&self) -> Vec<TaskId> {
        let is_ready =
            |task: &TaskId| self.standing[task] == Standing::Open && self.open_blockers(*task) == 0;
        self.standing.keys().copied().filter(is_ready).collect()
    }

    fn has_step(&self, from: TaskId, to: TaskId) -> bool {
        self.edges.contains(&(from, to))
            || self.standing.get(&from).is_some_and(|s| stand_ins(s).contains(&to))
    }

    fn reaches(&self, from: TaskId, to: TaskId) -> bool {
        let mut seen = BTreeSet::new();
        let mut stack = vec![from];
        while let Some(at) = stack.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                stack.extend(self.standing.keys().filter(|next| self.has_step(at, **next)));
            }
        }
        false
    }

    /// Longest chain of work still to be done that ends with `task`.
    fn chain(&self, task: TaskId) -> usize {
        if self.met(task) || self.dead(task) {
            return 0;
        }
        let (below, own) = match &self.standing[&task] {
            Standing::Open | Standing::Failed => (self.waits_on(task), 1),
            other => (stand_ins(other), 0),
        };
        own + below.into_iter().map(|on| self.chain(on)).max().unwrap_or(0)
    }

    fn may_stand(&self, task: TaskId, next: &Standing) -> bool {
        let step_is_allowed = match (&self.standing[&task], next) {
            (Standing::Done, _) => false,
            (Standing::Cancelled, next) => *next == Standing::Open,
            (Standing::Open | Standing::Failed, _)
            | (_, Standing::Cancelled)
            | (Standing::Recycled { .. }, Standing::Recycled { .. } | Standing::Replaced { .. }) => true,
            (Standing::Recycled { .. } | Standing::Replaced { .. }, _) => false,
        };
        let new = stand_ins(next);
        step_is_allowed
            && *next != Standing::Replaced { by: Vec::new() }
            && new.iter().all(|stand_in| self.knows(*stand_in) && !self.reaches(*stand_in, task))
    }

    /// Applies the operation if it is allowed; returns whether it was.
    fn apply(&mut self, op: &Op) -> bool {
        match op {
            Op::Add(task) => {
                let is_new = !self.knows(*task);
                if is_new {
                    self.standing.insert(*task, Standing::Open);
                }
                is_new
            }
            Op::Edge(dependent, on) => {
                let is_allowed = self.knows(*dependent) && self.knows(*on) && !self.reaches(*on, *dependent);
                if is_allowed {
                    self.edges.insert((*dependent, *on));
                }
                is_allowed
            }
            Op::Cut(dependent, on) => {
                self.edges.remove(&(*dependent, *on));
                self.knows(*dependent) && self.knows(*on)
            }
            Op::Stand(task, standing) => {
                let mut standing = standing.clone();
                if let Standing::Replaced { by } = &mut standing {
                    by.sort();
                    by.dedup();
                }
                if !self.knows(*task) {
                    return false;
                }
                let is_allowed = self.standing[task] == standing || self.may_stand(*task, &standing);
                if is_allowed {
                    self.standing.insert(*task, standing);
                }
                is_allowed
            }
            Op::Rewire(from, to) => {
                let dependents = self.dependents(*from);
                let closes_circle = |on: &TaskId| dependents.iter().any(|task| self.reaches(*on, *task));
                let is_allowed = self.knows(*from)
                    && !to.is_empty()
                    && to.iter().all(|on| self.knows(*on) && on != from && !closes_circle(on));
                if is_allowed {
                    for dependent in dependents {
                        self.edges.remove(&(dependent, *from));
                        self.edges.extend(to.iter().map(|on| (dependent, *on)));
                    }
                }
                is_allowed
            }
        }
    }
}

/// Applies the operation to the graph; returns what became ready, or the error.
fn apply(graph: &mut TaskGraph, op: &Op) -> Result<Vec<TaskId>, GraphError> {
    match op {
        Op::Add(task) => graph.add(*task).map(|()| vec![*task]),
        Op::Edge(dependent, on) => graph.add_edge(*dependent, *on).map(|_| Vec::new()),
        Op::Cut(dependent, on) => graph.remove_edge(*dependent, *on),
        Op::Stand(task, standing) => graph.set_standing(*task, standing.clone()),
        Op::Rewire(from, to) => graph.rewire(*from, to).map(|rewired| rewired.newly_ready),
    }
}

fn started() -> (TaskGraph, Model) {
    let tasks = || (0..KNOWN).map(|number| (task(number), Standing::Open));
    let model = Model { standing: tasks().collect(), edges: BTreeSet::new() };
    (TaskGraph::load(tasks(), []).expect("ten separate tasks make a graph"), model)
}

/// The graph agrees with the model on every query.
fn compare(graph: &TaskGraph, model: &Model) -> Result<(), TestCaseError> {
    prop_assert_eq!(graph.ready().collect::<Vec<_>>(), model.ready());
    for (known, standing) in graph.tasks() {
        prop_assert_eq!(standing, &model.standing[&known]);
        prop_assert_eq!(graph.waits_on(known).collect::<Vec<_>>(), model.waits_on(known));
        prop_assert_eq!(graph.dependents(known).collect::<Vec<_>>(), model.dependents(known));
        prop_assert_eq!(graph.open_blockers(known), Some(model.open_blockers(known)), "{}", known);
        match graph.verdict(known) {
            Some(DependencyStatus::Met) => prop_assert!(model.met(known)),
            Some(DependencyStatus::Pending { .. }) => prop_assert!(!model.met(known) && !model.dead(known)),
            Some(DependencyStatus::Dead { reason }) => {
                prop_assert!(model.dead(known));
                prop_assert_eq!(reason.chain[0], known);
                prop_assert!(reason.chain.windows(2).all(|pair| model.has_step(pair[0], pair[1])));
            }
            None => prop_assert!(false, "{} has no verdict", known),
        }
    }
    Ok(())
}

/// Queries on the whole graph; expensive for the model, so compared once at the end.
fn compare_whole(graph: &TaskGraph, model: &Model) -> Result<(), TestCaseError> {
    for known in model.standing.keys() {
        prop_assert!(!model.reaches_itself(*known), "a circle through {}", known);
    }
    let longest = model.standing.keys().map(|known| model.chain(*known)).max().unwrap_or(0);
    let path = graph.critical_path();
    prop_assert_eq!(path.len(), longest);
    prop_assert!(path.windows(2).all(|pair| model.reaches(pair[1], pair[0])));
    Ok(())
}

impl Model {
    fn reaches_itself(&self, task: TaskId) -> bool {
        self.standing.keys().any(|next| self.has_step(task, *next) && self.reaches(*next, task))
    }
}

/// The reported cycle is one: all its edges but the rejected one exist.
fn check_circle(model: &Model, op: &Op, path: &[TaskId]) -> Result<(), TestCaseError> {
    let is_new = |from: TaskId, to: TaskId| match op {
        Op::Edge(dependent, on) => (from, to) == (*dependent, *on),
        Op::Stand(task, standing) => from == *task && stand_ins(standing).contains(&to),
        Op::Rewire(old, new) => model.edges.contains(&(from, *old)) && new.contains(&to),
        Op::Add(_) | Op::Cut(..) => false,
    };
    prop_assert!(path.len() > 2 && path.first() == path.last());
    prop_assert!(is_new(path[0], path[1]), "{:?} is not what {:?} adds", &path[..2], op);
    prop_assert!(path[1..].windows(2).all(|pair| model.has_step(pair[0], pair[1])), "{path:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// I13 and the counters: after any changes the graph agrees with recomputation.
    #[test]
    fn counters_equal_recomputation_and_cycles_are_never_created(ops in prop::collection::vec(any_op(), 0..80)) {
        let (mut graph, mut model) = started();
        for op in &ops {
            let before = model.clone();
            let is_allowed = model.apply(op);
            match apply(&mut graph, op) {
                Ok(newly_ready) => {
                    prop_assert!(is_allowed, "{:?} was carried out", op);
                    let was_ready = before.ready();
                    let expected: Vec<_> =
                        model.ready().into_iter().filter(|task| !was_ready.contains(task)).collect();
                    prop_assert_eq!(newly_ready, expected, "after {:?}", op);
                }
                Err(refusal) => {
                    prop_assert!(!is_allowed, "{:?} was refused: {}", op, refusal);
                    if let GraphError::Circle { path } = &refusal {
                        check_circle(&before, op, path)?;
                    }
                }
            }
            compare(&graph, &model)?;
        }
        compare_whole(&graph, &model)?;
    }

    #[test]
    fn a_preview_is_what_happens(ops in prop::collection::vec(any_op(), 0..60), accepted in 0..KNOWN) {
        let (mut graph, _) = started();
        for op in &ops {
            let _ = apply(&mut graph, op);
        }
        match graph.preview_accept(task(accepted)) {
            // Already done, or recycled with all replacements done: accepting it starts nothing.
            Ok(preview) if graph.verdict(task(accepted)) == Some(DependencyStatus::Met) => {
                prop_assert!(preview.starts.is_empty() && preview.still_waiting.is_empty());
            }
            Ok(preview) => {
                prop_assert_eq!(graph.complete(task(accepted)), Ok(preview.starts));
                for waiting in preview.still_waiting {
                    let on: Vec<_> = graph.waiting_on(waiting.task).into_iter().map(|b| b.task).collect();
                    prop_assert!(!on.is_empty());
                    prop_assert_eq!(on, waiting.on);
                }
            }
            Err(refusal) => prop_assert_eq!(graph.complete(task(accepted)), Err(refusal)),
        }
    }

    #[test]
    fn a_stored_graph_loads_as_it_was(ops in prop::collection::vec(any_op(), 0..60)) {
        let (mut graph, mut model) = started();
        for op in &ops {
            let _ = apply(&mut graph, op);
            model.apply(op);
        }
        let loaded = TaskGraph::load(model.standing.clone().into_iter().rev(), model.edges.iter().copied().rev());
        let loaded = loaded.expect("what was a graph is one");
        compare(&loaded, &model)?;
        compare_whole(&loaded, &model)?;
    }

    /// I13, as it happens: workers finish only what is ready, some tasks are recycled, planned, approved
    /// and rewired to the leaves, and a person removes dependencies between parts. No dependent is done before every
    /// replacement of what it waited on, and nothing is stranded.
    #[test]
    fn recycled_work_is_done_before_its_dependents(
        edges in prop::collection::vec((0..8_u32, 0..8_u32), 0..20),
        choices in prop::collection::vec((any::<u8>(), any::<u8>()), 200),
    ) {
        let edges: BTreeSet<_> =
            edges.into_iter().filter(|(a, b)| a > b).map(|(a, b)| (task(a), task(b))).collect();
        let mut graph =
            TaskGraph::load((0..8).map(|n| (task(n), Standing::Open)), edges.iter().copied()).expect("it is acyclic");
        let mut next_id = 8;
        let mut planning: BTreeMap<TaskId, TaskId> = BTreeMap::new();
        let mut replaced_by: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        let mut done_at: BTreeMap<TaskId, usize> = BTreeMap::new();
        for (clock, (pick, fate)) in choices.into_iter().enumerate() {
            let ready: Vec<_> = graph.ready().collect();
            let Some(at) = usize::from(pick).checked_rem(ready.len()) else { break };
            let worked_on = ready[at];
            if worked_on.bits() < 8 && fate % 3 == 0 {
                let plan = task(next_id);
                next_id += 1;
                graph.add(plan).expect("a new id");
                graph.set_standing(worked_on, Standing::Recycled { planning: plan }).expect("it is open");
                planning.insert(plan, worked_on);
            } else {
                let newly_ready = graph.complete(worked_on).expect("it is open");
                done_at.insert(worked_on, clock);
                if let Some(original) = planning.get(&worked_on).copied() {
                    prop_assert!(newly_ready.is_empty(), "a plan alone starts nothing");
                    let new: Vec<_> = (next_id..=next_id + u32::from(fate % 3)).map(task).collect();
                    next_id += 3;
                    for id in &new {
                        graph.add(*id).expect("a new id");
                    }
                    if fate % 2 == 0 {
                        for pair in new.windows(2) {
                            graph.add_edge(pair[1], pair[0]).expect("a chain");
                        }
                    }
                    let leaves = graph.leaves(&new.iter().copied().collect());
                    graph.set_standing(original, Standing::Replaced { by: new.clone() }).expect("approved");
                    graph.rewire(original, &leaves).expect("the leaves are new");
                    if let [first, second, ..] = new.as_slice() && pick % 2 == 0 {
                        graph.detach(*second, &[*first]).expect("both are there");
                    }
                    replaced_by.insert(original, new);
                }
            }
        }
        for (dependent, on) in &edges {
            let Some(finished) = done_at.get(dependent) else { continue };
            let needed = replaced_by.get(on).cloned().unwrap_or_else(|| vec![*on]);
            for need in needed {
                prop_assert!(done_at.get(&need).is_some_and(|at| at < finished), "{dependent} before {need}");
            }
        }
        prop_assert!(graph.ready().next().is_none(), "200 choices are enough for eight tasks");
        prop_assert!(project::is_complete(graph.tasks()));
    }
}

/// Long enough to overflow any stack that recursed, and to take minutes if a step were not cheap.
const LONG: u32 = 100_000;

fn long_chain() -> TaskGraph {
    let mut graph = TaskGraph::new();
    for number in 0..LONG {
        graph.add(task(number)).expect("a new id");
        if number > 0 {
            graph.add_edge(task(number), task(number - 1)).expect("a chain");
        }
    }
    graph
}

#[test]
fn a_chain_of_100_000_is_built_checked_measured_and_worked_off() {
    let mut graph = long_chain();
    assert_eq!(graph.critical_path().len(), LONG as usize);
    let Err(GraphError::Circle { path }) = graph.add_edge(task(0), task(LONG - 1)) else {
        panic!("the circle was not refused");
    };
    assert_eq!(path.len(), LONG as usize + 1);
    for number in 0..LONG - 1 {
        assert_eq!(graph.complete(task(number)), Ok(vec![task(number + 1)]));
    }
}

#[test]
fn a_dead_dependency_propagates_through_a_chain_of_100_000() {
    let mut graph = long_chain();
    graph.set_standing(task(0), Standing::Cancelled).expect("it is open");
    assert_eq!(graph.stranded().count(), LONG as usize - 1);
    let Some(DependencyStatus::Dead { reason }) = graph.verdict(task(LONG - 1)) else { panic!("not dead") };
    assert_eq!(reason.chain.len(), LONG as usize);
    assert_eq!(graph.remove_edge(task(1), task(0)), Ok(vec![task(1)]));
    assert_eq!(graph.stranded().count(), 0);
}

#[test]
fn a_chain_loads_from_rows_in_any_order() {
    let edges: Vec<_> = (1..LONG).map(|number| (task(number), task(number - 1))).collect();
    // Every seventh first, then every seventh from the next, and so on: chains that grow together.
    let scattered = (0..7).flat_map(|offset| edges.iter().copied().skip(offset).step_by(7));
    let tasks = (0..LONG).rev().map(|number| (task(number), Standing::Open));
    let graph = TaskGraph::load(tasks, scattered).expect("a chain");
    assert_eq!(graph.ready().collect::<Vec<_>>(), [task(0)]);
}

#[test]
fn a_fan_of_100_000_starts_at_once() {
    let mut graph = TaskGraph::new();
    for number in 0..LONG {
        graph.add(task(number)).expect("a new id");
        if number > 0 {
            graph.add_edge(task(number), task(0)).expect("a fan");
        }
    }
    assert_eq!(graph.preview_accept(task(0)).expect("it is open").starts.len(), LONG as usize - 1);
    assert_eq!(graph.complete(task(0)).expect("it is open").len(), LONG as usize - 1);
}
