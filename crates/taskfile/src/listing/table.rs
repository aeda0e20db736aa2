//! The task list as aligned columns.

use super::ListedTask;

/// The spaces between two columns.
const PADDING: usize = 6;

/// Names and descriptions in columns. Consecutive tasks with aliases get an alias column, aligned as in go-task.
pub(super) fn table(listed: &[ListedTask]) -> String {
    let first: Vec<String> = listed.iter().map(|l| format!("* {}: ", l.name)).collect();
    let descs: Vec<String> = listed.iter().map(|l| l.desc.replace('\n', " ")).collect();
    let width = first.iter().map(|cell| chars(cell)).max().unwrap_or(0) + PADDING;
    let mut out = String::new();
    let mut index = 0;
    while index < listed.len() {
        let block = listed[index..].iter().take_while(|l| !l.aliases.is_empty()).count();
        let end = index + block.max(1);
        let desc_width = descs[index..end].iter().map(|d| chars(d)).max().unwrap_or(0) + PADDING;
        for row in index..end {
            out.push_str(&first[row]);
            out.extend(std::iter::repeat_n(' ', width - chars(&first[row])));
            out.push_str(&descs[row]);
            if block > 0 {
                out.extend(std::iter::repeat_n(' ', desc_width - chars(&descs[row])));
                out.extend(["(aliases: ", &listed[row].aliases.join(", "), ")"]);
            }
            out.push('\n');
        }
        index = end;
    }
    out
}

fn chars(text: &str) -> usize {
    text.chars().count()
}
