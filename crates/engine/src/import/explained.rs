//! Explanations of [`ImportError`].

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::import::error::ImportError;

explained! { ImportError {
    Self::Unreadable { .. } => Explanation {
        code: "import_unreadable",
        means: "The file or folder to import from cannot be read.",
        cause: "It does not exist, or you have no permission to read it.",
        next: "Check the path; `baton import --help` lists the files of each tool.",
    },
    Self::NothingFound { .. } => Explanation {
        code: "nothing_to_import",
        means: "None of the files in which this tool stores tasks exists.",
        cause: "The path is wrong, or the tool stores them elsewhere.",
        next: "Name the repository's folder or the file itself; `baton import --help` lists the files.",
    },
    Self::Malformed { .. } => Explanation {
        code: "import_malformed",
        means: "The file is not in the tool's format. The message names the line and the reason. Nothing was imported.",
        cause: "It was edited, truncated, or written by another version of the tool.",
        next: "Correct the line or export it again; `baton import TOOL PATH --dry-run` checks without importing.",
    },
    Self::TooLarge { .. } => Explanation {
        code: "import_too_large",
        means: "The file is larger than Baton reads.",
        cause: "The limit protects against running out of memory.",
        next: "Split it. Tasks already imported are not imported again.",
    },
    Self::NameTooLong { .. } => Explanation {
        code: "import_name",
        means: "An item to import has a name that is too long.",
        cause: "Its id in the other tool is longer than Baton can store.",
        next: "Shorten it in the other tool. Nothing was imported.",
    },
} else {
    Self::Database(error) => error.explained(),
} }
