//! Time zones by name.

use baton_core::routine::{Routine, Trigger};
use jiff::tz::TimeZone;

use crate::runs::routines::error::RoutineError;

/// Where a routine by event is judged; it has no time of day.
const ANY: TimeZone = TimeZone::UTC;

pub(super) fn find(name: &str) -> Result<TimeZone, RoutineError> {
    TimeZone::get(name).map_err(|_| RoutineError::UnknownZone { name: name.to_owned() })
}

pub(super) fn zone_of(routine: &Routine) -> Result<TimeZone, RoutineError> {
    match &routine.trigger {
        Trigger::Time { time_zone, .. } => find(time_zone.as_str()),
        Trigger::Ref { .. } | Trigger::Webhook | Trigger::TaskDone { .. } => Ok(ANY),
    }
}

/// The zone of this machine, `UTC` if it has none with a name.
pub fn local_zone_name() -> String {
    TimeZone::system().iana_name().unwrap_or("UTC").to_owned()
}
