//! Why nothing was imported, explained.

use baton_core::base::explanation::Explanation;
use baton_core::explained;

use crate::import::error::ImportError;

explained! { ImportError {
    Self::Unreadable { .. } => Explanation {
        code: "import_unreadable",
        means: "The file or folder to import from cannot be read.",
        cause: "It is not there, or you may not read it.",
        next: "Check the path; `baton import --help` says what each tool keeps where.",
    },
    Self::NothingThere { .. } => Explanation {
        code: "nothing_to_import",
        means: "None of the files this tool keeps its tasks in is there.",
        cause: "The path is another repository's, or the tool keeps them elsewhere.",
        next: "Give the repository's folder or the file itself; `baton import --help` says what is looked for.",
    },
    Self::Malformed { .. } => Explanation {
        code: "import_malformed",
        means: "The file does not read as what the tool writes; line and reason are named. Nothing was imported.",
        cause: "It was edited by hand, cut short, or comes from another version of the tool.",
        next: "Mend the line or export it again; `baton import TOOL PATH --dry-run` looks without writing.",
    },
    Self::TooLarge { .. } => Explanation {
        code: "import_too_large",
        means: "The file is larger than Baton reads at once.",
        cause: "A limit keeps one file from filling the memory.",
        next: "Split it. What was imported before is not imported twice.",
    },
    Self::NameTooLong { .. } => Explanation {
        code: "import_name",
        means: "An entry to be imported has a name that is too long.",
        cause: "Its id in the other tool is longer than what Baton keeps to recognise it again.",
        next: "Shorten it in the other tool. Nothing was imported.",
    },
} else {
    Self::Database(error) => error.explained(),
} }
