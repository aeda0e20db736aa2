//! Reads for many tasks at once, one statement each.

pub(crate) const TASKS_BY_IDS: &str = "SELECT id, version, body FROM tasks WHERE id = ANY($1) ORDER BY id";
pub(crate) const DEPENDENCIES: &str =
    "SELECT task, blocker, is_met FROM edges WHERE task = ANY($1) ORDER BY task, blocker";
pub(crate) const DEPENDENTS: &str = "SELECT e.task, e.blocker, e.is_met
    FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS u (id)) b
    CROSS JOIN LATERAL (
        SELECT task, blocker, is_met FROM edges WHERE blocker = b.id COLLATE \"C\" ORDER BY task LIMIT $2
    ) e ORDER BY e.blocker, e.task";
pub(crate) const ATTEMPTS: &str = "SELECT key, version, body FROM records
    WHERE kind = 'attempt' AND task = ANY($1) ORDER BY task, place";
pub(crate) const LAST_ATTEMPTS: &str = "SELECT a.key, a.version, a.body
    FROM (SELECT DISTINCT id FROM unnest($1::text[]) AS u (id)) t
    CROSS JOIN LATERAL (
        SELECT key, version, body, task FROM records
        WHERE kind = 'attempt' AND task = t.id COLLATE \"C\" ORDER BY place DESC LIMIT 1
    ) a ORDER BY a.task";
pub(crate) const ATTEMPTS_BY_IDS: &str =
    "SELECT key, version, body FROM records WHERE kind = 'attempt' AND key = ANY($1) ORDER BY key";
pub(crate) const QUESTIONS_BY_IDS: &str =
    "SELECT key, version, body FROM records WHERE kind = 'question' AND key = ANY($1) ORDER BY key";
pub(crate) const QUESTIONS: &str = "SELECT key, version, body FROM records
    WHERE kind = 'question' AND task = ANY($1) AND is_open = coalesce($2, is_open) ORDER BY task, place, key";
pub(crate) const LAST_MESSAGES: &str = "SELECT key, version, body FROM records
    WHERE kind = 'message' AND session = $1 AND place < $2 ORDER BY place DESC LIMIT $3";
pub(crate) const QUEUE_DEPTHS: &str = "SELECT queue, count(*) FROM tasks GROUP BY queue";
