//! Dates and durations at a fixed time: 2024-02-29 13:05:09.12 UTC.

use crate::template::rendered;

#[test]
fn now_has_the_methods_of_a_go_time() {
    assert_eq!(
        rendered("{{now.Year}}-{{now.Month}}-{{now.Day}} {{now.Weekday}}"),
        "2024-February-29 Thursday"
    );
    assert_eq!(rendered("{{now.Hour}}:{{now.Minute}}:{{now.Second}} {{now.YearDay}}"), "13:5:9 60");
    assert_eq!(rendered(r#"{{now.Format "2006-01-02T15:04:05Z07:00"}}"#), "2024-02-29T13:05:09Z");
    assert_eq!(
        rendered("{{now.Unix}} {{now.UnixMilli}} {{unixEpoch now}}"),
        "1709211909 1709211909120 1709211909"
    );
    assert_eq!(rendered("{{now}}"), "2024-02-29 13:05:09.12 +0000 UTC");
    assert_eq!(rendered("{{now.AddDate 1 0 1}}"), "2025-03-02 13:05:09.12 +0000 UTC");
}

#[test]
fn layouts_show_every_part_of_a_date() {
    let layout = "Monday Jan _2 2006 03:04:05.000 PM pm -07:00 MST 06 1 002 __2 .999 15h";
    assert_eq!(
        rendered(&format!("{{{{now | date {layout:?}}}}}")),
        "Thursday Feb 29 2024 01:05:09.120 PM pm +00:00 UTC 24 2 060  60 .12 13h"
    );
    assert_eq!(rendered(r#"{{dateInZone "15:04 MST" now "Europe/Berlin"}}"#), "14:05 CET");
    assert_eq!(
        rendered(r#"{{now | htmlDate}} {{htmlDateInZone now "Asia/Tokyo"}}"#),
        "2024-02-29 2024-02-29"
    );
}

#[test]
fn dates_are_parsed_by_a_layout() {
    assert_eq!(rendered(r#"{{(toDate "02.01.2006 15:04" "31.12.1999 23:59").Unix}}"#), "946684740");
    assert_eq!(
        rendered(r#"{{toDate "Jan 2 2006 3:04pm" "Feb 3 2013 12:30am"}}"#),
        "2013-02-03 00:30:00 +0000 UTC"
    );
    assert_eq!(
        rendered(r#"{{mustToDate "15:04" "25:00"}}"#),
        r#"!template: :1:2: executing "" at <mustToDate "15:04" "25:00">: error calling mustToDate: parsing time "25:00": hour out of range"#
    );
}

#[test]
fn durations_are_added_measured_and_rounded() {
    assert_eq!(rendered(r#"{{ago (dateModify "-90m" now)}}"#), "1h30m0s");
    assert_eq!(rendered(r#"{{durationRound (dateModify "-50h" now)}}"#), "2d");
    assert_eq!(rendered(r#"{{(now.Sub (dateModify "-1.5s" now)).Seconds}}"#), "1.5");
    assert_eq!(rendered(r#"{{now.Before (dateModify "1ns" now)}} {{now.After now}}"#), "true false");
}
