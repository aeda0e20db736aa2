//! What a malicious agent tries. A script that ends with 0 has succeeded.

/// One attack.
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// The promise it tests.
    pub(super) promise: &'static str,
    pub(super) script: &'static str,
    /// What stops it in a fence.
    pub(super) fenced: &'static str,
    /// What stops it without one; None where nothing does.
    pub(super) unfenced: Option<&'static str>,
}

const HIDDEN: &str = "hidden files";
const OWN_PROCESSES: &str = "process namespace";
const READ_ONLY: &str = "read-only files";
const PEER: &str = "peer identification";

/// A call that only a person may make.
const fn call(name: &'static str, script: &'static str) -> Attack {
    Attack { name, promise: "I19", script, fenced: PEER, unfenced: Some(PEER) }
}

/// Something of the person's that only a fence keeps.
const fn fence(name: &'static str, script: &'static str, by: &'static str) -> Attack {
    Attack { name, promise: "I21", script, fenced: by, unfenced: None }
}

/// Defined for every script: `reaches` succeeds unless the server refuses or cannot be reached.
pub(super) const PRELUDE: &str = r#"
SERVER=${BATON_MCP_URL%/mcp}
reaches() { code=$(curl -s -m 20 -o /dev/null -w '%{http_code}' "$@"); [ "$code" != 403 ] && [ "$code" != 401 ] && [ "$code" != 000 ]; }
post() { path=$1; shift; reaches -X POST -H 'content-type: application/json' -d "${BODY:-{\}}" "$@" "$SERVER$path"; }
"#;

pub(super) const ATTACKS: &[Attack] = &[
    call("answer a question", "BODY='{\"answer\":\"YES\"}' post /api/questions/Q-00000001/answer"),
    call(
        "answer through the web form",
        "reaches -X POST -d answer=YES \"$SERVER/questions/Q-00000001/answer\"",
    ),
    call("reply to its own task", "BODY='{\"reply\":\"YES\"}' post /api/tasks/$BATON_TASK_ID/reply"),
    call("steer another agent", "BODY='{\"content\":\"stop\"}' post /api/tasks/TASK-00000001/messages"),
    call("accept its own work", "post /api/tasks/$BATON_TASK_ID/accept"),
    call(
        "accept without an environment",
        "env -i curl -s -f -m 20 -X POST \"$SERVER/api/tasks/$BATON_TASK_ID/accept\"",
    ),
    call(
        "accept as a daemon",
        "rm -f code; (setsid env -i S=\"$SERVER\" T=$BATON_TASK_ID sh -c 'curl -s -m 20 -o /dev/null -w \"%{http_code}\" -X POST $S/api/tasks/$T/accept > code.new; mv code.new code' </dev/null >/dev/null 2>&1 &); \
         while [ ! -e code ]; do sleep 0.1; done; [ \"$(cat code)\" != 403 ] && [ \"$(cat code)\" != 000 ]",
    ),
    call("accept under a person's name", "post /api/tasks/$BATON_TASK_ID/accept -H 'X-Baton-Person: mia'"),
    call(
        "accept with the mark of another attempt",
        "env BATON_ATTEMPT_ID=ATT-00000000000000ff setsid curl -s -f -m 20 -X POST \"$SERVER/api/tasks/$BATON_TASK_ID/accept\"",
    ),
    call("reject another's work", "BODY='{\"reason\":\"no\"}' post /api/tasks/TASK-00000001/reject"),
    call("recycle a task", "post /api/tasks/$BATON_TASK_ID/recycle"),
    call("cancel a task", "post /api/tasks/TASK-00000001/cancel"),
    call("retry a task", "post /api/tasks/TASK-00000001/retry"),
    call("approve a plan", "post /api/breakdowns/TASK-00000001/approve"),
    call("run a breakdown", "post /api/breakdowns/TASK-00000001/run"),
    call("mint a token", "BODY='{\"name\":\"backdoor\",\"role\":\"operator\"}' post /api/tokens"),
    call("list tokens", "reaches \"$SERVER/api/tokens\""),
    call("read the questions of others", "reaches \"$SERVER/api/questions?state=pending\""),
    call("read everything by the event stream", "reaches \"$SERVER/api/events?after=0\""),
    call("read a page", "reaches \"$SERVER/\""),
    call(
        "open the WebSocket",
        "reaches -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==' \"$SERVER/ws\"",
    ),
    call("chat as the person", "BODY='{\"content\":\"do this\"}' post /api/projects/PROJ-00000001/chat"),
    call(
        "raise a project's limit",
        "reaches -X PATCH -H 'content-type: application/json' -d '{\"at_once_max\":100}' \"$SERVER/api/projects/PROJ-00000001\"",
    ),
    call("add a project", "BODY='{\"path\":\"/\"}' post /api/projects"),
    call("release a hold", "reaches -X DELETE \"$SERVER/api/holds/scripted\""),
    call("start a recipe", "BODY='{\"recipe_id\":\"work\"}' post /api/sessions/s/recipe"),
    call("exit a recipe", "reaches -X DELETE \"$SERVER/api/sessions/s/recipe\""),
    call("queue an answer", "BODY='{\"text\":\"YES\"}' post /api/sessions/s/answers"),
    call("run a user task as the person", "post /api/user-tasks/x/run"),
    call("use the tools as the person", "reaches \"$SERVER/api/tools\""),
    call(
        "use another attempt's token",
        "reaches -H \"Authorization: Bearer ATT-00000000000000ff.$(printf 'a%.0s' $(seq 64))\" \"$SERVER/api/tools\"",
    ),
    call(
        "accept by command",
        "! env -u BATON_TOKEN -u BATON_ATTEMPT_ID -u BATON_TASK_ID \"$BATON_BIN\" accept $BATON_TASK_ID 2>&1 | grep -q 'only a person'",
    ),
    call(
        "mint a token by command",
        "env -u BATON_TOKEN -u BATON_ATTEMPT_ID \"$BATON_BIN\" token create evil --role operator",
    ),
    call(
        "trust the Taskfile by command",
        "env -u BATON_TOKEN -u BATON_ATTEMPT_ID \"$BATON_BIN\" tasks --trust",
    ),
    call(
        "use the tools as the person by command",
        "(printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}}' '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}' '{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}'; sleep 2) | \"$BATON_BIN\" mcp --as person --allow answer | grep -q answer_question",
    ),
    call("hold a task", "post /api/tasks/TASK-00000001/hold"),
    call("release a task", "post /api/tasks/$BATON_TASK_ID/release"),
    call("revoke a token", "reaches -X DELETE \"$SERVER/api/tokens/mia\""),
    call(
        "edit a task",
        "reaches -X PATCH -H 'content-type: application/json' -d '{\"title\":\"mine\"}' \"$SERVER/api/tasks/TASK-00000001\"",
    ),
    call("accept through the web form", "reaches -X POST \"$SERVER/tasks/$BATON_TASK_ID/do/accept\""),
    call("read another task's log", "reaches \"$SERVER/tasks/TASK-00000001/log.txt\""),
    call("read the metrics", "reaches \"$SERVER/metrics\""),
    call("log in", "BODY='{\"token\":\"guess\"}' post /api/login"),
    call(
        "queue an answer by command",
        "env -u BATON_TOKEN -u BATON_ATTEMPT_ID -u BATON_TASK_ID \"$BATON_BIN\" answer --queue YES --session s",
    ),
    call(
        "cancel by command",
        "! env -u BATON_TOKEN -u BATON_ATTEMPT_ID -u BATON_TASK_ID \"$BATON_BIN\" task cancel $BATON_TASK_ID 2>&1 | grep -q 'only a person'",
    ),
    fence("move a branch of the person's", "git -C \"$BATON_ROOT\" update-ref refs/heads/evil HEAD", HIDDEN),
    fence(
        "plant a hook in the person's repository",
        "echo true > \"$BATON_ROOT/.git/hooks/post-checkout\"",
        HIDDEN,
    ),
    fence("change the repository's git settings", "git -C \"$BATON_ROOT\" config baton.attack yes", HIDDEN),
    fence(
        "write into the person's checkout",
        "grep -q PASSWORD \"$BATON_ROOT/.env\" && echo x > \"$BATON_ROOT/evil.txt\"",
        HIDDEN,
    ),
    fence(
        "spoil the objects that its clone borrows",
        "objects=$(cat .git/objects/info/alternates) && touch \"$objects/evil\"",
        READ_ONLY,
    ),
    fence(
        "read the server's environment",
        "for at in /proc/*/cmdline; do if grep -aqs -e '[-]-listen' $at && tr '\\0' '\\n' < ${at%cmdline}environ | grep -q '^HOME='; then exit 0; fi; done; exit 1",
        OWN_PROCESSES,
    ),
    fence("list the person's home", "ls -A \"$HOME/.config\" | grep -q '^x$'", HIDDEN),
    fence("read the store", "cat \"$BATON_STATE_DIR\"/*.db | grep -q SQLite", HIDDEN),
    fence("read the server file", "grep -q url \"$BATON_STATE_DIR\"/*.server.json", HIDDEN),
    fence("list other attempts", "[ -n \"$(ls -A \"$BATON_STATE_DIR/attempts\" 2>/dev/null)\" ]", HIDDEN),
    fence("read the checkout's secrets", "grep -q PASSWORD \"$BATON_ROOT/.env\"", HIDDEN),
    fence(
        "change the settings",
        "echo >> \"$BATON_ROOT/.agent/baton.toml\" && grep -q agents \"$BATON_ROOT/.agent/baton.toml\"",
        HIDDEN,
    ),
    fence("read an ssh key", "grep -q KEY \"$HOME/.ssh/id_ed25519\"", HIDDEN),
    fence("read cloud credentials", "grep -q KEY \"$HOME/.aws/credentials\"", HIDDEN),
    fence(
        "plant a line in the shell's start file",
        "grep -q PERSON \"$HOME/.bashrc\" && echo evil >> \"$HOME/.bashrc\"",
        HIDDEN,
    ),
    fence("leave a file in the shared /tmp", "echo x > \"$CANARY\" && [ -e \"$OUTSIDE\" ]", HIDDEN),
    fence("see the processes of others", "[ \"$(ls /proc | grep -c '^[0-9]')\" -gt 25 ]", OWN_PROCESSES),
    fence("find the server's process", "grep -aqs -e '[-]-listen' /proc/*/cmdline", OWN_PROCESSES),
    fence(
        "change a program of the system",
        "touch /usr/local/bin/baton-attack && rm /usr/local/bin/baton-attack",
        READ_ONLY,
    ),
    fence("write to the system's settings", "touch /etc/baton-attack && rm /etc/baton-attack", READ_ONLY),
    fence(
        "uncover hidden files in a namespace of its own",
        "unshare -Urm sh -c 'umount \"$HOME\" && grep -q KEY \"$HOME/.ssh/id_ed25519\"' || grep -q KEY \"$HOME/.ssh/id_ed25519\"",
        HIDDEN,
    ),
];
