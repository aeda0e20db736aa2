//! What a fenced program can read and write.

use std::fs;

use baton_agents::driver::run_result::ProcessExit;
use baton_agents::fence::Fence;
use baton_agents::fence::abilities::HostAbilities;
use baton_core::task::fence::{FenceAspect, FenceLayer, FenceMode, NetworkMode};

use crate::bench::run;
use crate::fence::{Yard, helper};

#[tokio::test]
async fn secrets_are_hidden_and_the_own_work_is_not() {
    let Some(yard) = Yard::new() else { return };
    let script = r#"
        cd "$YARD/worktree" && echo work > file && mkdir -p a/b && mv file a/b/file && cat a/b/file
        echo session > "$HOME/.claude/session" && cat "$YARD/repo/.git/objects/pack"
        for secret in home/.ssh home/notes.txt state repo/.env home/.config/baton home/.cargo/credentials.toml; do
            if [ -n "$(cat "$YARD/$secret" "$YARD/$secret"/* 2>/dev/null)" ]; then echo "SEEN $secret"; fi
        done
        echo x > /usr/x; echo x > "$YARD/repo/.git/objects/y"; echo x > /x; cat /etc/shadow; ls -A /root/* /home/* 2>/dev/null
        echo x > /tmp/mine && cat /tmp/mine; id -u
        true"#;
    let ran = run(yard.launch(&yard.request(NetworkMode::Open), script)).await;
    let uid = rustix::process::getuid().as_raw();
    let output = ran.ended.reported.output.trim().to_owned();
    assert_eq!(output, format!("work\nOBJECTx\n{uid}"), "{}", yard.bench.log());
    assert_eq!(fs::read_to_string(yard.path("worktree/a/b/file")).unwrap(), "work\n");
    assert_eq!(fs::read_to_string(yard.path("home/.claude/session")).unwrap(), "session\n");
    assert!(!std::path::Path::new("/tmp/mine").exists() && !yard.path("repo/.git/objects/y").exists());
}

#[tokio::test]
async fn sockets_and_variables_that_lead_out_are_gone() {
    let Some(yard) = Yard::new() else { return };
    let mut launch = yard.launch(
        &yard.request(NetworkMode::Open),
        r#"echo "[$SSH_AUTH_SOCK$XDG_RUNTIME_DIR]$TMPDIR"; ls -A /run"#,
    );
    launch.environment.set("SSH_AUTH_SOCK", "/run/user/0/agent");
    launch.environment.set("XDG_RUNTIME_DIR", "/run/user/0");
    let ran = run(launch).await;
    let output = ran.ended.reported.output;
    assert!(output.starts_with("[]/tmp"), "{output}");
    assert!(!output.contains("docker") && !output.contains("user"), "{output}");
}

#[tokio::test]
async fn a_link_planted_in_a_writable_folder_opens_nothing() {
    let Some(yard) = Yard::new() else { return };
    std::os::unix::fs::symlink(yard.path("home/.ssh"), yard.path("home/.claude/link")).unwrap();
    let mut request = yard.request(NetworkMode::Open);
    request.policy.read = vec![yard.path("home/.claude/link")];
    let strict = Fence::build(&request, HostAbilities::current(), Some(&helper()));
    assert!(strict.unwrap_err().to_string().contains("leads out of its folder"));
    request.policy.mode = FenceMode::Auto;
    let ran = run(yard.launch(&request, r#"cat "$HOME/.claude/link/id_ed25519""#)).await;
    assert_eq!(ran.ended.exit, Some(ProcessExit::Code(1)), "{}", ran.ended.reported.output);
}

#[tokio::test]
async fn nested_namespaces_do_not_uncover_anything() {
    let Some(yard) = Yard::new() else { return };
    let script = r#"unshare -Urm sh -c 'umount "$HOME"; umount /tmp; mount -o remount,rw /usr; cat "$HOME/.ssh/id_ed25519"; echo x > /usr/x' ; test -e /usr/x && echo WROTE; true"#;
    let ran = run(yard.launch(&yard.request(NetworkMode::Open), script)).await;
    assert!(!ran.ended.reported.output.contains("KEY") && !ran.ended.reported.output.contains("WROTE"));
}

#[tokio::test]
async fn landlock_alone_hides_the_same_files_and_says_what_is_missing() {
    let Some(yard) = Yard::new() else { return };
    let Ok(()) = HostAbilities::current().landlock else { return };
    let only = HostAbilities { landlock: Ok(()), ..HostAbilities::nothing("bubblewrap is not installed") };
    let mut request = yard.request(NetworkMode::Open);
    assert!(Fence::build(&request, &only, Some(&helper())).is_err(), "I21");
    request.policy.mode = FenceMode::Auto;
    // The yard is below /tmp, which is writable without a namespace.
    request.tmp = Some(yard.path("state"));
    request.hide.clear();
    let fence = Fence::build(&request, &only, Some(&helper())).unwrap();
    assert_eq!(fence.report().layers, [FenceLayer::Landlock]);
    assert_eq!(fence.report().gaps[0].aspect, FenceAspect::Processes);
    let mut launch =
        yard.launch(&request, "echo x > /usr/x || cat /root/.bashrc || cat /var/log/dpkg.log; echo $?");
    launch.fence = Some(fence);
    let ran = run(launch).await;
    assert_eq!(ran.ended.reported.output.trim(), "1", "{}", yard.bench.log());
}
