//! Moments as Go writes and reads them.

use jiff::Zoned;

/// Go's `time.Time.String`: date, time, offset and the zone's short name.
pub(crate) fn display(time: &Zoned) -> String {
    let mut text = time.strftime("%Y-%m-%d %H:%M:%S").to_string();
    let nanos = time.subsec_nanosecond();
    if nanos != 0 {
        let fraction = format!("{nanos:09}");
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
    text.push_str(&time.strftime(" %z %Z").to_string());
    text
}
