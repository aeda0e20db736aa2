//! How vague a task is, by a rubric the agent fills in before planning.
//!
//! The agent rates each point and gives a reason; Baton computes the score, in whole hundredths so that the same
//! rubric scores the same everywhere.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::base::text::NonBlank;

/// Above this, planning would be guessing: the agent asks first.
pub const CLARIFY_ABOVE: VaguenessScore = VaguenessScore(30);

/// From 0.00 (all clear) to 1.00 (nothing known).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VaguenessScore(u8);

impl VaguenessScore {
    pub const fn hundredths(self) -> u8 {
        self.0
    }
}

impl fmt::Display for VaguenessScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

impl Serialize for VaguenessScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 100.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clarity {
    Clear,
    Partly,
    Missing,
}

impl Clarity {
    pub const ALL: [Self; 3] = [Self::Clear, Self::Partly, Self::Missing];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Partly => "partly clear",
            Self::Missing => "missing",
        }
    }
}

/// One point of the rubric. A rating without a reason cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RubricPoint {
    pub clarity: Clarity,
    pub reason: NonBlank,
}

/// What a task must say before it can be planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rubric {
    /// What is wanted, and why.
    pub goal: RubricPoint,
    /// What is in scope, and what is not.
    pub scope: RubricPoint,
    /// How to tell that it is done.
    pub acceptance: RubricPoint,
    /// What must not change, and what it must fit.
    pub constraints: RubricPoint,
}

/// The weight of each missing point; partly clear counts half. They add up to 1.00. A missing goal alone requires a
/// question; missing acceptance alone does not quite, because a plan can propose it.
const GOAL_WEIGHT: u8 = 40;
const SCOPE_WEIGHT: u8 = 20;
const ACCEPTANCE_WEIGHT: u8 = 30;
const CONSTRAINTS_WEIGHT: u8 = 10;

impl Rubric {
    fn points(&self) -> [(&'static str, &RubricPoint, u8); 4] {
        [
            ("goal", &self.goal, GOAL_WEIGHT),
            ("scope", &self.scope, SCOPE_WEIGHT),
            ("acceptance", &self.acceptance, ACCEPTANCE_WEIGHT),
            ("constraints", &self.constraints, CONSTRAINTS_WEIGHT),
        ]
    }

    pub fn score(&self) -> VaguenessScore {
        let weighed = self.points().map(|(_, point, weight)| match point.clarity {
            Clarity::Clear => 0,
            Clarity::Partly => weight / 2,
            Clarity::Missing => weight,
        });
        VaguenessScore(weighed.iter().sum())
    }

    pub fn assess(&self) -> Assessment {
        let score = self.score();
        let unclear = |(name, point, _): (&'static str, &RubricPoint, u8)| match point.clarity {
            Clarity::Clear => None,
            Clarity::Partly | Clarity::Missing => {
                Some(format!("{name} is {}: {}", point.clarity.as_str(), point.reason))
            }
        };
        Assessment {
            score,
            must_clarify: score > CLARIFY_ABOVE,
            reasons: self.points().into_iter().filter_map(unclear).collect(),
        }
    }
}

/// The score and its reasons, for display.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assessment {
    pub score: VaguenessScore,
    /// Strictly above the threshold.
    pub must_clarify: bool,
    /// One per point that is not clear.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.must_clarify { "clarify before planning" } else { "clear enough to plan" };
        write!(f, "Vagueness {}: {verdict} (the limit is {CLARIFY_ABOVE})", self.score)?;
        for reason in &self.reasons {
            write!(f, "\n- {reason}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rubric(goal: Clarity, scope: Clarity, acceptance: Clarity, constraints: Clarity) -> Rubric {
        let point = |clarity| RubricPoint { clarity, reason: NonBlank::fixed("because") };
        Rubric {
            goal: point(goal),
            scope: point(scope),
            acceptance: point(acceptance),
            constraints: point(constraints),
        }
    }

    #[test]
    fn the_scale_runs_from_all_clear_to_nothing_known() {
        use Clarity::{Clear, Missing};
        assert_eq!(rubric(Clear, Clear, Clear, Clear).score().to_string(), "0.00");
        assert_eq!(rubric(Missing, Missing, Missing, Missing).score().to_string(), "1.00");
    }

    #[test]
    fn exactly_the_limit_is_still_clear_enough() {
        use Clarity::{Clear, Missing, Partly};
        let at_limit = rubric(Clear, Clear, Missing, Clear).assess();
        assert_eq!(at_limit.score, CLARIFY_ABOVE);
        assert!(!at_limit.must_clarify);
        assert!(rubric(Clear, Clear, Missing, Partly).assess().must_clarify);
        assert!(rubric(Missing, Clear, Clear, Clear).assess().must_clarify);
    }

    #[test]
    fn less_clarity_never_lowers_the_score_and_every_unclear_point_is_named() {
        for a in Clarity::ALL {
            for b in Clarity::ALL {
                for c in Clarity::ALL {
                    for d in Clarity::ALL {
                        let score = rubric(a, b, c, d).score();
                        assert!(score <= rubric(Clarity::Missing, b, c, d).score());
                        assert!(score <= rubric(a, Clarity::Missing, c, d).score());
                        assert!(score <= rubric(a, b, Clarity::Missing, d).score());
                        assert!(score <= rubric(a, b, c, Clarity::Missing).score());
                        let unclear =
                            [a, b, c, d].iter().filter(|&&clarity| clarity != Clarity::Clear).count();
                        assert_eq!(rubric(a, b, c, d).assess().reasons.len(), unclear);
                    }
                }
            }
        }
    }

    #[test]
    fn the_score_and_its_reasons_are_shown() {
        use Clarity::{Clear, Missing, Partly};
        let assessment = rubric(Missing, Partly, Clear, Clear).assess();
        insta::assert_snapshot!(assessment, @r"
        Vagueness 0.50: clarify before planning (the limit is 0.30)
        - goal is missing: because
        - scope is partly clear: because
        ");
        insta::assert_snapshot!(
            serde_json::to_string(&assessment).unwrap(),
            @r#"{"score":0.5,"must_clarify":true,"reasons":["goal is missing: because","scope is partly clear: because"]}"#
        );
    }

    #[test]
    fn a_rubric_with_a_point_left_out_or_without_reason_is_refused() {
        let whole =
            serde_json::to_value(rubric(Clarity::Clear, Clarity::Clear, Clarity::Clear, Clarity::Clear));
        let whole = whole.unwrap();
        for point in ["goal", "scope", "acceptance", "constraints"] {
            let mut without = whole.clone();
            without.as_object_mut().unwrap().remove(point);
            let error = serde_json::from_value::<Rubric>(without).unwrap_err();
            assert!(error.to_string().contains(point), "{error}");
            let mut unreasoned = whole.clone();
            unreasoned[point]["reason"] = " ".into();
            assert!(serde_json::from_value::<Rubric>(unreasoned).is_err());
        }
    }
}
