//! What a store could not do, explained.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use super::StoreError;

explained! { StoreError {
    Self::Damaged { .. } => Explanation {
        code: "store_damaged",
        means: "The file of the store is there, but does not read as a whole. Baton refuses it and changes nothing.",
        cause: "The disk failed, another program wrote into the file, or it was copied while Baton wrote to it (a copy \
                is made with `baton backup`).",
        next: "Keep a copy of the file and of the -wal file beside it. Then put the latest backup back with \
               `baton restore FILE --replace`, or let SQLite save what can be saved: sqlite3 FILE .recover.",
    },
    Self::Foreign { .. } => Explanation {
        code: "store_foreign",
        means: "The file is not a store of Baton's.",
        cause: "Another program's file has the name the store should have, or `--state-dir` and `--namespace` lead to it.",
        next: "Choose another folder with `--state-dir` or another name with `--namespace`; nothing was changed.",
    },
    Self::InUse { .. } => Explanation {
        code: "store_in_use",
        means: "This needs the store for itself, and a Baton has it open.",
        cause: "A backup is put back while `baton up` or another command runs on the same store.",
        next: "End the other one (Ctrl-C where `baton up` runs), or restore beside it: `baton restore FILE --namespace NAME`.",
    },
    Self::Unreadable { .. } => Explanation {
        code: "file_unreadable",
        means: "Another program's database could not be read.",
        cause: "It is not the file you mean, you may not read it, or it is damaged.",
        next: "Check the path; `baton import --help` says what each tool keeps where.",
    },
    Self::Newer { .. } => Explanation {
        code: "store_newer",
        means: "A newer Baton has written this store, and this one does not know its form.",
        cause: "Baton was upgraded and then run in its older version, perhaps on another machine.",
        next: "Run the newer one, or restore a backup from before the upgrade: `baton restore FILE --replace`.",
    },
    Self::ReadOnly { .. } => Explanation {
        code: "store_read_only",
        means: "The store can be read and not be written.",
        cause: "The file or its folder belongs to somebody else, or the disk is mounted read-only. SQLite writes files \
                beside its own, so the folder must be writable too.",
        next: "Make both writable, or choose another folder with `--state-dir`.",
    },
    Self::DiskFull { .. } => Explanation {
        code: "disk_full",
        means: "There is no room left to write what was asked; it was not written.",
        cause: "The disk or your share of it is full.",
        next: "Free some space and try again. Nothing that was acknowledged is lost. `[retention]` in the settings \
               bounds logs and finished worktrees.",
    },
    Self::Busy { .. } => Explanation {
        code: "store_busy",
        means: "Another program has held the store for longer than Baton waits.",
        cause: "A long transaction of another tool (a database browser, a backup program), or a process that hangs.",
        next: "Find who holds it (fuser -v FILE) and try again.",
    },
    Self::Unreachable { .. } => Explanation {
        code: "store_unreachable",
        means: "PostgreSQL does not answer, or does not let you in.",
        cause: "The server is down, the address or the password is wrong, or the network between is.",
        next: "Check `--store`, `BATON_STORE` or `store` in the settings; `baton config` shows which counts. psql with the \
               same address tells more.",
    },
    Self::Unknown { .. } => Explanation {
        code: "commit_unknown",
        means: "The connection broke while a change was on its way: it may have been written or not.",
        cause: "PostgreSQL or the network between went away at that moment.",
        next: "Look before you repeat it: `baton task show TASK`. A repeat is never done twice by mistake: the versions \
               of the rows tell.",
    },
    Self::BadRow { .. } => Explanation {
        code: "bad_row",
        means: "Something stored does not read as what it should be.",
        cause: "The row was changed by hand, or the disk failed.",
        next: "Restore it from a backup (`baton restore FILE --namespace look` puts one beside it), and report it if \
               nobody touched it.",
    },
    Self::Closed => Explanation {
        code: "store_closed",
        means: "The store was closed while somebody still asked it something.",
        cause: "Baton was ending at that moment.",
        next: "Start it again and repeat what was asked.",
    },
    Self::Backend { .. } => Explanation {
        code: "store_failed",
        means: "The database answered with an error that Baton does not expect.",
        cause: "The message has the database's own words.",
        next: "Try again, and report it with that message if it comes back.",
    },
} }
