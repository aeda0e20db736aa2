//! I17 against random trees: whatever an agent leaves in a worktree comes back byte for byte.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::repo::{TestRepo, ready};

/// Each case starts some forty processes.
const CASES: u32 = 24;

#[derive(Debug, Clone)]
enum Node {
    File {
        bytes: Vec<u8>,
        executable: bool,
    },
    Link(OsString),
    Folder(BTreeMap<OsString, Node>),
    /// A folder that is a git repository, with a commit or without.
    Repository {
        committed: bool,
        inside: BTreeMap<OsString, Node>,
    },
}

/// What is compared: the same for a tree before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    File(Vec<u8>, bool),
    Link(PathBuf),
    Folder,
}

fn name() -> impl Strategy<Value = OsString> + Clone {
    let odd = prop::sample::select(vec![
        "a b",
        "-dash",
        "--help",
        "größe",
        "日本",
        "new\nline",
        "\"quoted\"",
        "back\\slash",
        "%baton%x",
        "%baton-modules%",
        ".gitignore",
        ".gitattributes",
        ".gitmodules",
        "HEAD",
        "x.log",
        ":(top)x",
        "tab\t",
        " ",
        "*",
        "git~1",
        ".GITx",
    ]);
    prop_oneof![
        3 => odd.prop_map(OsString::from),
        3 => "[a-z]{1,3}".prop_map(OsString::from),
        1 => prop::collection::vec(prop::num::u8::ANY, 1..6).prop_map(OsString::from_vec),
    ]
    .prop_filter("a name of one part that git or the system does not keep", |name| {
        let bytes = name.as_bytes();
        !bytes.contains(&0) && !bytes.contains(&b'/') && bytes != b"." && bytes != b".." && bytes != b".git"
    })
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(prop::num::u8::ANY, 0..300),
        Just(b"a\r\nb\nc\r\n".to_vec()),
        Just(b"* text=auto eol=crlf ident\n$Id$\n".to_vec()),
        Just(b"*.log\na*\n!keep\n".to_vec()),
        Just(b"[submodule \"x\"]\n\tpath = -x\n\turl = -u\n".to_vec()),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let file = (content(), any::<bool>()).prop_map(|(bytes, executable)| Node::File { bytes, executable });
    let link = prop_oneof![name(), Just("/etc/passwd".into()), Just("../..".into()), Just(".".into())];
    let leaf = prop_oneof![5 => file, 1 => link.prop_map(Node::Link)];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let inside = prop::collection::btree_map(name(), inner, 0..5);
        prop_oneof![
            4 => inside.clone().prop_map(Node::Folder),
            1 => (any::<bool>(), inside).prop_map(|(committed, inside)| Node::Repository { committed, inside }),
        ]
    })
}

fn build(repo: &TestRepo, path: &Path, node: &Node) {
    match node {
        Node::File { bytes, executable } => {
            fs::write(path, bytes).unwrap();
            let mode = if *executable { 0o755 } else { 0o644 };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        Node::Link(target) => symlink(target, path).unwrap(),
        Node::Folder(inside) => {
            fs::create_dir(path).unwrap();
            build_all(repo, path, inside);
        }
        Node::Repository { committed, inside } => {
            fs::create_dir(path).unwrap();
            repo.git(path, &["init", "--quiet"]);
            if *committed {
                repo.git(path, &["commit", "--quiet", "--allow-empty", "-m", "inner"]);
            }
            build_all(repo, path, inside);
        }
    }
}

fn build_all(repo: &TestRepo, folder: &Path, inside: &BTreeMap<OsString, Node>) {
    for (name, node) in inside {
        build(repo, &folder.join(name), node);
    }
}

fn see(root: &Path, folder: &Path, seen: &mut BTreeMap<PathBuf, Seen>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let below = path.strip_prefix(root).unwrap().to_owned();
        let found = fs::symlink_metadata(&path).unwrap();
        if below.as_os_str() == OsStr::new(".git") {
            continue;
        }
        let what = if found.is_symlink() {
            Seen::Link(fs::read_link(&path).unwrap())
        } else if found.is_dir() {
            see(root, &path, seen);
            Seen::Folder
        } else {
            Seen::File(fs::read(&path).unwrap(), found.permissions().mode() & 0o100 != 0)
        };
        seen.insert(below, what);
    }
}

fn all_of(root: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut seen = BTreeMap::new();
    see(root, root, &mut seen);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i17_whatever_was_written_comes_back(tree in prop::collection::btree_map(name(), node(), 0..8)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (repo, room, checkout) = ready().await;
            build_all(&repo, &checkout.folder, &tree);
            let before = all_of(&checkout.folder);
            room.retire(checkout.attempt).await.unwrap();
            assert!(!checkout.folder.exists());
            let back = repo.root.join("back");
            room.restore(checkout.attempt, &back).await.unwrap();
            assert_eq!(all_of(&back), before);
            assert_eq!(repo.fsck(), "");
        });
    }

    #[test]
    fn whatever_was_written_settles(tree in prop::collection::btree_map(name(), node(), 0..8)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (repo, room, checkout) = ready().await;
            build_all(&repo, &checkout.folder, &tree);
            let settled = room.settle(&checkout).await.unwrap();
            assert_eq!(room.settle(&checkout).await.unwrap(), settled);
            let listed = repo.git(&repo.main, &["ls-tree", "-r", settled.measured.head.as_str()]);
            assert!(!listed.contains("160000 commit"), "{listed}");
        });
    }
}
