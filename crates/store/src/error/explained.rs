//! What a store could not do, explained.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::error::StoreError;

explained! { StoreError {
    Self::Damaged { .. } => Explanation {
        code: "store_damaged",
        means: "The store's file is corrupt. Baton refuses to open it and has changed nothing.",
        cause: "The disk failed, another program wrote to the file, or the file was copied while Baton was writing \
                (use `baton backup` to make a copy).",
        next: "Keep a copy of the file and of its -wal file. Then restore the latest backup with `baton restore \
               FILE --replace`, or recover what SQLite can: sqlite3 FILE .recover.",
    },
    Self::Gone { .. } => Explanation {
        code: "store_gone",
        means: "The store's file was deleted or replaced while Baton was using it. Nothing more is written, because it \
                would be lost.",
        cause: "`git clean -fdx` or `rm` removed the state folder, or another file was copied over the store.",
        next: "Stop Baton. What the store held was saved beside it (NAME.db.rescued-1) unless that failed: `baton \
               restore FILE --replace` puts it back, as it does with a backup.",
    },
    Self::Missing { .. } => Explanation {
        code: "store_missing",
        means: "Baton made a store here, and it is gone. Baton does not replace it with an empty one, which would look as \
                if all work were done.",
        cause: "`git clean -fdx` or `rm` removed the state folder.",
        next: "Restore a backup or a saved copy (NAME.db.rescued-1) with `baton restore FILE`. To start with an empty \
               store, delete the file in .git/baton/stores that the error names.",
    },
    Self::NotAStore { .. } => Explanation {
        code: "store_foreign",
        means: "The file is not a Baton store.",
        cause: "A file of another program is where the store should be, or `--state-dir` and `--namespace` point to \
                one.",
        next: "Choose another directory with `--state-dir` or another name with `--namespace`. Nothing was changed.",
    },
    Self::InUse { .. } => Explanation {
        code: "store_in_use",
        means: "This needs exclusive access to the store, and another Baton process has it open.",
        cause: "A backup is being restored while `baton up` or another command is using the same store.",
        next: "Stop the other process (Ctrl-C where `baton up` runs), or restore beside it: `baton restore FILE \
               --namespace NAME`.",
    },
    Self::Unreadable { .. } => Explanation {
        code: "file_unreadable",
        means: "Another program's database could not be read.",
        cause: "It is the wrong file, you lack permission to read it, or it is corrupt.",
        next: "Check the path; `baton import --help` lists where each tool keeps its data.",
    },
    Self::Newer { .. } => Explanation {
        code: "store_newer",
        means: "A newer version of Baton wrote this store, and this version does not know its schema.",
        cause: "Baton was upgraded and then run in an older version, perhaps on another machine.",
        next: "Run the newer version, or restore a backup from before the upgrade: `baton restore FILE --replace`.",
    },
    Self::ReadOnly { .. } => Explanation {
        code: "store_read_only",
        means: "The store can be read but not written.",
        cause: "The file or its directory belongs to another user, or the disk is mounted read-only. SQLite creates \
                files beside its own, so the directory must be writable too.",
        next: "Make both writable, or choose another directory with `--state-dir`.",
    },
    Self::DiskFull { .. } => Explanation {
        code: "disk_full",
        means: "There is no space left, so the change was not written.",
        cause: "The disk or your quota is full.",
        next: "Free some space and try again. Nothing that was acknowledged is lost. `[retention]` in the settings \
               limits logs and finished worktrees.",
    },
    Self::Busy { .. } => Explanation {
        code: "store_busy",
        means: "Another program has locked the store for longer than Baton waits.",
        cause: "A long transaction of another tool (a database browser, a backup program), or a process that hangs.",
        next: "Find the process (fuser -v FILE) and try again.",
    },
    Self::Unreachable { .. } => Explanation {
        code: "store_unreachable",
        means: "PostgreSQL does not answer or refuses the connection.",
        cause: "The server is down, the address or the password is wrong, or the network is interrupted.",
        next: "Check `--store`, `BATON_STORE` or `store` in the settings; `baton config` shows which one applies. \
               psql with the same address shows more.",
    },
    Self::CommitUnknown { .. } => Explanation {
        code: "commit_unknown",
        means: "The connection broke during a commit: the change may or may not have been written.",
        cause: "PostgreSQL or the network failed at that moment.",
        next: "Check before you repeat it: `baton task show TASK`. Repeating is safe: row versions prevent a change \
               from being applied twice.",
    },
    Self::BadRow { .. } => Explanation {
        code: "bad_row",
        means: "A stored row cannot be decoded.",
        cause: "The row was edited by hand, or the disk failed.",
        next: "Restore a backup (`baton restore FILE --namespace look` puts it beside this store), and report the \
               problem if nobody edited the row.",
    },
    Self::Closed => Explanation {
        code: "store_closed",
        means: "The store was closed while a request was waiting.",
        cause: "Baton was shutting down.",
        next: "Start it again and repeat the request.",
    },
    Self::Backend { .. } => Explanation {
        code: "store_failed",
        means: "The database returned an error that Baton does not expect.",
        cause: "The message contains the database's own error.",
        next: "Try again, and report it with that message if it happens again.",
    },
} }
