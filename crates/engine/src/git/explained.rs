//! What can go wrong with git, explained.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::git::error::GitError;

explained! { GitError {
    Self::Missing { .. } => Explanation {
        code: "git_missing",
        means: "Baton could not start git.",
        cause: "It is not installed, or not on the PATH Baton was started with.",
        next: "Install it; `baton doctor` says which one is found.",
    },
    Self::TooOld { .. } => Explanation {
        code: "git_too_old",
        means: "The git that was found cannot do what Baton needs.",
        cause: "An old one comes first on the PATH.",
        next: "Install a newer one; `baton doctor` says which one is found.",
    },
    Self::Failed { .. } => Explanation {
        code: "git_failed",
        means: "Git ended with an error; its own words are in the message.",
        cause: "Often a lock file that a killed git left behind, a hook that refuses, or files that belong to another user.",
        next: "Do what git says; `git status` and `git fsck` in the repository tell more.",
    },
    Self::TimedOut { .. } => Explanation {
        code: "git_timed_out",
        means: "Git was not done within the time it may take, and was ended.",
        cause: "Another program holds the repository, the disk is slow, or something it started waits for input.",
        next: "See what else works on the repository, then try again.",
    },
    Self::TooLong { .. } => Explanation {
        code: "git_too_long",
        means: "Git's answer is longer than Baton takes.",
        cause: "The repository, or one change in it, is larger than Baton was made for.",
        next: "Please report it. Work that was committed is safe on its branch.",
    },
    Self::Garbled { .. } => Explanation {
        code: "git_garbled",
        means: "Git answered in another form than it documents.",
        cause: "A wrapper stands in git's place, or the repository is damaged.",
        next: "Run `git fsck`, and report it if that is clean.",
    },
    Self::File { .. } => Explanation {
        code: "git_file",
        means: "A file or folder of a worktree could not be made, read or removed.",
        cause: "Its owner, its rights or the disk.",
        next: "Look at the path in the message, fix it and try again.",
    },
    Self::Busy { .. } => Explanation {
        code: "git_busy",
        means: "Another Baton holds the repository for something only one may do at a time, such as a merge.",
        cause: "Two of them work on one repository, or one hangs.",
        next: "Wait for it, or end it.",
    },
    Self::NotARepository { .. } => Explanation {
        code: "not_a_repository",
        means: "The folder is not in a git repository.",
        cause: "Agents work in worktrees and hand in commits, so there has to be one.",
        next: "Run `git init` there, or name another with `--root`.",
    },
    Self::NoCommits { .. } => Explanation {
        code: "no_commits",
        means: "The repository has no commit yet, so no branch can start anywhere.",
        cause: "It was just made.",
        next: "Commit what there is, or nothing: git commit --allow-empty -m Start.",
    },
    Self::NoBranch { .. } => Explanation {
        code: "no_branch",
        means: "The branch does not exist.",
        cause: "It was removed or renamed, or the name is mistyped.",
        next: "`git branch --list` shows what there is; make it with git branch NAME.",
    },
    Self::NoBaseBranch { .. } => Explanation {
        code: "no_base_branch",
        means: "No branch stands out as the one work starts from.",
        cause: "There is no main or master, nothing is checked out, and no remote says.",
        next: "Name it: `baton project create TITLE --base BRANCH`, or check it out.",
    },
    Self::InTheWay { .. } => Explanation {
        code: "branch_in_the_way",
        means: "A branch cannot be made, because the name of another one is in its way.",
        cause: "Git keeps branches like files: where there is a branch a, there cannot be a branch a/b.",
        next: "Rename the other one: git branch -m OLD NEW.",
    },
    Self::CheckedOut { .. } => Explanation {
        code: "checked_out",
        means: "The branch accepted work goes to is checked out somewhere, and Baton does not move it under you.",
        cause: "You have switched to it, here or in a worktree of your own.",
        next: "Switch to another branch there, or merge the task's branch yourself, then accept again: `baton accept TASK`.",
    },
    Self::Unrelated { .. } => Explanation {
        code: "unrelated",
        means: "The work and the branch it is meant for have no commit in common.",
        cause: "The agent made a new history, or the branch was replaced.",
        next: "Rebase the work onto the branch, or reject it: `baton reject TASK --reason TEXT`.",
    },
    Self::KeptMoving { .. } => Explanation {
        code: "kept_moving",
        means: "The branch moved each time the work was to be merged into it.",
        cause: "Something else commits to it at the same time.",
        next: "See what that is, then accept again: `baton accept TASK`.",
    },
    Self::BadCopy { .. } => Explanation {
        code: "bad_copy",
        means: "A file that [worktree] copy names cannot be copied into a worktree.",
        cause: "It lies outside the repository, leads out of it, or is no ordinary file.",
        next: "Name files by their path inside the repository.",
    },
    Self::HandedOn { .. } => Explanation {
        code: "handed_on",
        means: "The worktree belongs to a later attempt now.",
        cause: "The task went on where this attempt stopped.",
        next: "Look at the attempt that is named; `baton task show TASK` lists all of them.",
    },
    Self::NoWorktree { .. } => Explanation {
        code: "no_worktree",
        means: "The attempt has no worktree any more.",
        cause: "It was finished and tidied away; what was in it is kept first.",
        next: "Bring it back: `baton task restore ATTEMPT FOLDER`.",
    },
    Self::NoVault { .. } => Explanation {
        code: "no_vault",
        means: "Nothing is kept of this attempt.",
        cause: "It left nothing that is not on its branch, its worktree still stands, or it is of another repository.",
        next: "`baton task diff TASK` shows what is on the branch.",
    },
    Self::Exists { .. } => Explanation {
        code: "path_exists",
        means: "Something is there already, and Baton writes over nothing.",
        cause: "The folder that was named exists.",
        next: "Name one that does not exist yet.",
    },
    Self::NotKept { .. } => Explanation {
        code: "not_kept",
        means: "A worktree was not removed, because not everything in it could be kept.",
        cause: "Files that cannot be read or stored (their rights, sockets, the disk). What cannot be kept is not removed.",
        next: "Move them away or make them readable; it is tried again by itself.",
    },
    Self::KeptChanging { .. } => Explanation {
        code: "kept_changing",
        means: "A worktree was not removed, because its files changed while they were being kept.",
        cause: "A process that an agent started may still write there.",
        next: "End that process; it is tried again by itself.",
    },
} }
