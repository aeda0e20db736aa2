//! What an agent's file system looks like: a list of mounts, in the order they are made.

use std::path::{Path, PathBuf};

use crate::fence::places::{HOME_GIT, HOME_SECRETS, HOME_TOOLS, SYSTEM, SYSTEM_SECRETS};
use crate::fence::request::FenceRequest;
use crate::fence::tools;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mount {
    ReadOnly {
        source: PathBuf,
        target: PathBuf,
    },
    Writable {
        source: PathBuf,
        target: PathBuf,
    },
    /// An empty folder in memory.
    Empty(PathBuf),
    /// An unreadable, empty file.
    Nothing(PathBuf),
    Link {
        target: PathBuf,
        path: PathBuf,
    },
}

/// The mounts of one fence, parents before children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) mounts: Vec<Mount>,
    /// Requested paths that would lead out of the folders they are in.
    pub(super) escaping: Vec<PathBuf>,
}

impl Layout {
    pub(super) fn plan(request: &FenceRequest) -> Self {
        let mut mounts: Vec<Mount> = SYSTEM.iter().filter_map(|path| system_mount(Path::new(path))).collect();
        let home = &request.home;
        if home.is_absolute() && home.components().count() > 1 {
            mounts.push(Mount::Empty(home.clone()));
        }
        match &request.tmp {
            Some(folder) => mounts.push(Mount::Writable { source: folder.clone(), target: "/tmp".into() }),
            None => mounts.push(Mount::Empty("/tmp".into())),
        }
        mounts.extend(["/var/tmp", "/run"].map(|path| Mount::Empty(path.into())));
        mounts.extend(resolver());
        let mut readable: Vec<PathBuf> = Vec::new();
        let below_home =
            |names: &[&str]| -> Vec<PathBuf> { names.iter().map(|name| home.join(name)).collect() };
        readable.extend(below_home(&HOME_TOOLS));
        readable.extend(below_home(&HOME_GIT));
        readable.extend(tools::folders(&request.search_path, request.program.as_deref(), home, is_system));
        readable.extend(request.agent_read.iter().chain(&request.policy.read).cloned());
        let mut writable: Vec<PathBuf> = request.agent_write.clone();
        writable.extend(request.policy.write.iter().cloned());
        let mut hidden = request.hide.clone();
        hidden.extend(below_home(&HOME_SECRETS));
        hidden.extend(SYSTEM_SECRETS.iter().map(PathBuf::from));
        // What was asked for by name stays visible, also where it is among the secrets.
        let asked: Vec<&PathBuf> = request
            .policy
            .read
            .iter()
            .chain(&request.policy.write)
            .chain(&request.agent_write)
            .chain(&request.agent_read)
            .collect();
        hidden.retain(|path| !asked.contains(&path));
        // Programs that look for them find empty folders.
        mounts.extend(request.hide.iter().filter(|path| path.is_dir()).cloned().map(Mount::Empty));
        let mut layout = Self { mounts, escaping: Vec::new() };
        layout.add_binds(&readable, &writable, &hidden);
        for objects in &request.objects {
            layout.mounts.push(Mount::ReadOnly { source: objects.clone(), target: objects.clone() });
        }
        layout.mounts.push(Mount::Writable { source: request.clone.clone(), target: request.clone.clone() });
        for forwarded in &request.forward {
            let socket = forwarded.socket.clone();
            layout.mounts.push(Mount::Writable { source: socket.clone(), target: socket });
        }
        // Stable, so that of two mounts on one path the later one wins.
        layout.mounts.sort_by_key(Mount::depth);
        layout
    }

    fn add_binds(&mut self, readable: &[PathBuf], writable: &[PathBuf], hidden: &[PathBuf]) {
        let visible: Vec<&PathBuf> = readable.iter().chain(writable).filter(|path| path.exists()).collect();
        for path in readable.iter().filter(|path| path.exists()) {
            if self.is_escaping(path, writable) {
                continue;
            }
            self.mounts.push(Mount::ReadOnly { source: path.clone(), target: path.clone() });
        }
        for path in writable.iter().filter(|path| path.exists()) {
            if self.is_escaping(path, writable) {
                continue;
            }
            self.mounts.push(Mount::Writable { source: path.clone(), target: path.clone() });
        }
        for path in hidden {
            let is_below = is_system(path) || visible.iter().any(|above| path.starts_with(above));
            if is_below && path.is_dir() {
                self.mounts.push(Mount::Empty(path.clone()));
            } else if is_below && path.exists() {
                self.mounts.push(Mount::Nothing(path.clone()));
            }
        }
    }

    /// Below a folder that agents write, a link may have been planted: it must not lead out of that folder.
    fn is_escaping(&mut self, path: &Path, writable: &[PathBuf]) -> bool {
        let Some(above) = writable.iter().find(|above| path.starts_with(above) && *above != path) else {
            return false;
        };
        let real = (std::fs::canonicalize(path), std::fs::canonicalize(above));
        let is_inside = matches!(&real, (Ok(real), Ok(above)) if real.starts_with(above));
        if !is_inside {
            self.escaping.push(path.to_owned());
        }
        !is_inside
    }

    pub(super) fn writable(&self) -> Vec<PathBuf> {
        let target = |mount: &Mount| match mount {
            Mount::Writable { target, .. } | Mount::Empty(target) => Some(target.clone()),
            Mount::ReadOnly { .. } | Mount::Nothing(_) | Mount::Link { .. } => None,
        };
        self.mounts.iter().filter_map(target).collect()
    }

    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let target = |mount: &Mount| match mount {
            Mount::ReadOnly { target, .. } => Some(target.clone()),
            Mount::Writable { .. } | Mount::Empty(_) | Mount::Nothing(_) | Mount::Link { .. } => None,
        };
        self.mounts.iter().filter_map(target).collect()
    }
}

impl Mount {
    fn depth(&self) -> usize {
        match self {
            Self::ReadOnly { target, .. } | Self::Writable { target, .. } => target.components().count(),
            Self::Empty(path) | Self::Nothing(path) | Self::Link { path, .. } => path.components().count(),
        }
    }
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

/// `/bin` is a link to `usr/bin` on most systems and a folder on others.
fn system_mount(path: &Path) -> Option<Mount> {
    if let Ok(target) = std::fs::read_link(path) {
        return Some(Mount::Link { target, path: path.to_owned() });
    }
    path.is_dir().then(|| Mount::ReadOnly { source: path.to_owned(), target: path.to_owned() })
}

/// The resolver's settings are often a link into `/run`.
fn resolver() -> Option<Mount> {
    let real = std::fs::canonicalize("/etc/resolv.conf").ok()?;
    (!is_system(&real)).then(|| Mount::ReadOnly { source: real.clone(), target: real })
}
