//! Which tasks a worker can take at all, before order and limits are asked.

use std::collections::BTreeSet;

use crate::base::id::ProjectId;
use crate::base::text::Label;

/// What a worker has. The default takes whatever needs nothing special.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    pub labels: BTreeSet<Label>,
    /// Projects whose code this worker cannot, or will not yet, work on.
    pub elsewhere: BTreeSet<ProjectId>,
    /// Whether it takes tasks without a project: it has a repository of its own for them.
    pub has_home: bool,
}

impl Default for Fit {
    fn default() -> Self {
        Self { labels: BTreeSet::new(), elsewhere: BTreeSet::new(), has_home: true }
    }
}

impl Fit {
    /// Whether it can work on the code of this project, or of none.
    pub fn reaches(&self, project: Option<ProjectId>) -> bool {
        match project {
            Some(project) => !self.elsewhere.contains(&project),
            None => self.has_home,
        }
    }

    /// The least choosy fit that admits whatever any of these admits.
    pub fn union<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = all.into_iter().cloned();
        let Some(mut union) = all.next() else { return Self::default() };
        for fit in all {
            union.labels.extend(fit.labels);
            union.elsewhere = union.elsewhere.intersection(&fit.elsewhere).copied().collect();
            union.has_home |= fit.has_home;
        }
        union
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> BTreeSet<Label> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn project(number: u32) -> ProjectId {
        ProjectId::from_bits(number)
    }

    #[test]
    fn the_union_is_as_wide_as_its_widest_part() {
        let gpu =
            Fit { labels: labels(&["gpu"]), elsewhere: [project(1), project(2)].into(), has_home: false };
        let mac = Fit { labels: labels(&["mac"]), elsewhere: [project(2)].into(), has_home: true };
        let union = Fit::union([&gpu, &mac]);
        assert_eq!(union.labels, labels(&["gpu", "mac"]));
        assert_eq!(union.elsewhere, [project(2)].into());
        assert!(union.has_home);
        assert_eq!(Fit::union([]), Fit::default());
    }
}
