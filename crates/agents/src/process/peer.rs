//! Which attempt a process, or the other end of a connection, belongs to (I19).
//!
//! A process belongs to an attempt when one of its ancestors was started with the attempt's id in its environment. A
//! keeper or a fence stands above every agent, and orphans stay below it, so clearing the own environment, leaving the
//! session or losing the parent changes nothing. What a process can do is ask somebody else: a service of the user's
//! session, a scheduler, another terminal. Only a fence stops that.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use baton_core::base::id::AttemptId;

use crate::fence::relay;
use crate::process::cgroup::{self, GroupId};
use crate::process::environment::ATTEMPT_ID;
use crate::process::socket_holder::{self, Holder};
use crate::process::socket_table::{self, TcpEntry};
use crate::process::table::{self, ProcessEntry};

/// Ancestors that are looked at; real trees are a dozen deep.
const ANCESTORS_MAX: usize = 256;

/// In the environment of a command that is told of notices.
const NOTICE: &[u8] = b"BATON_NOTICE_KIND=";

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerOwner {
    /// A process of this attempt.
    Attempt(AttemptId),
    /// A process of this user that belongs to no attempt.
    User(u32),
    /// No process is seen to have the connection open, while attempts are at work: it may be one of theirs.
    Unseen,
    /// It has closed the connection.
    Gone,
    /// Another machine, or the system does not tell.
    Unknown,
}

/// The owner of the client end `peer` of a connection to `local`.
///
/// Whatever address a process of this machine takes, the kernel has its end of the connection.
pub fn owner_of_peer(local: SocketAddr, peer: SocketAddr) -> PeerOwner {
    if let Some(attempt) = relay::attempt_of_address(peer) {
        return PeerOwner::Attempt(attempt);
    }
    let Some(socket) = socket_table::find(peer, local) else {
        let is_known = socket_table::is_readable() && is_of_this_machine(peer);
        return if is_known { PeerOwner::Gone } else { PeerOwner::Unknown };
    };
    let own = own_attempts();
    match socket_holder::find(socket.inode) {
        Holder::Found(pid) => match attempt_above(pid, own) {
            Some(attempt) => PeerOwner::Attempt(attempt),
            None => PeerOwner::User(socket.uid),
        },
        // A process can forbid others to look at its files. Among those, one of an attempt's is the suspect.
        Holder::Hidden(pids) => match pids.iter().find_map(|&pid| attempt_above(pid, own)) {
            Some(attempt) => PeerOwner::Attempt(attempt),
            None => owner_of_unheld(socket, local, peer, &pids),
        },
    }
}

/// A connection can be open without being among the files of any process that can be looked at: it is on its way through
/// a UNIX socket, a thread with files of its own has it, or a call that reads from it goes on after it was closed. An
/// agent can do each of these on purpose.
fn owner_of_unheld(socket: TcpEntry, local: SocketAddr, peer: SocketAddr, hidden: &[u32]) -> PeerOwner {
    if socket.uid != rustix::process::geteuid().as_raw() {
        return PeerOwner::User(socket.uid);
    }
    let members = members_of_attempts();
    let in_thread = members.iter().find(|(pid, _)| socket_holder::is_held_by_thread(*pid, socket.inode));
    if let Some(&(_, attempt)) = in_thread {
        return PeerOwner::Attempt(attempt);
    }
    if socket_table::find(peer, local).is_none() {
        return PeerOwner::Gone;
    }
    if members.is_empty() || is_from_elsewhere(socket, hidden, &members) {
        PeerOwner::User(socket.uid)
    } else {
        PeerOwner::Unseen
    }
}

/// Whether the connection was made in a control group of a process that cannot be looked at (the `sshd` of a forwarded port,
/// for one) where no attempt is, and where none can have been: another user decides who gets into that group.
fn is_from_elsewhere(socket: TcpEntry, hidden: &[u32], members: &[(u32, AttemptId)]) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let made_in = |group: &GroupId| Some(group.id) == socket.group;
    hidden.iter().filter_map(|&pid| cgroup::id_of(pid)).any(|group| made_in(&group) && group.owner != own)
        && !members.iter().filter_map(|&(pid, _)| cgroup::id_of(pid)).any(|group| made_in(&group))
}

/// Only an address of this machine can be bound.
fn is_of_this_machine(address: SocketAddr) -> bool {
    let ip = address.ip().to_canonical();
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}

/// Every process that belongs to an attempt, and to which one.
fn members_of_attempts() -> Vec<(u32, AttemptId)> {
    let own = own_attempts();
    table::pids().filter_map(|pid| Some((pid, attempt_above(pid, own)?))).collect()
}

/// The attempt that the client end `peer` of a connection to `local` belongs to.
pub fn attempt_of_peer(local: SocketAddr, peer: SocketAddr) -> Option<AttemptId> {
    match owner_of_peer(local, peer) {
        PeerOwner::Attempt(attempt) => Some(attempt),
        PeerOwner::User(_) | PeerOwner::Unseen | PeerOwner::Gone | PeerOwner::Unknown => None,
    }
}

/// The same for the other end of a UNIX socket, as the kernel names it.
#[cfg(target_os = "linux")]
pub fn attempt_of_unix_peer(socket: impl AsFd) -> Option<AttemptId> {
    let peer = rustix::net::sockopt::socket_peercred(socket).ok()?;
    attempt_above(peer.pid.as_raw_nonzero().get().unsigned_abs(), own_attempts())
}

/// The attempt that a process belongs to.
pub fn attempt_of_process(pid: u32) -> Option<AttemptId> {
    attempt_above(pid, own_attempts())
}

/// The variables that Baton gave to an attempt that this process runs in, the outermost one that `is_meant`.
///
/// They are those of the attempt's first process, so nothing that an agent sets, changes or hides counts.
pub fn variables_around(
    is_meant: impl Fn(&BTreeMap<String, String>) -> bool,
) -> Option<BTreeMap<String, String>> {
    ancestors(std::process::id()).into_iter().rev().find_map(|entry| {
        let environ = entry.environ()?;
        parse_attempt(&environ)?;
        let pairs = environ.split(|&byte| byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok());
        let variables = pairs.filter_map(|pair| pair.split_once('='));
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Some(variables).filter(&is_meant)
    })
}

/// Attempts that this process is itself part of. They say nothing about who talks to it.
fn own_attempts() -> &'static BTreeSet<AttemptId> {
    static OWN: OnceLock<BTreeSet<AttemptId>> = OnceLock::new();
    OWN.get_or_init(|| {
        let chain = ancestors(std::process::id());
        let above = chain.iter().filter_map(|entry| parse_attempt(&entry.environ()?));
        // A process that forbids inspection cannot read its own entry.
        let own = std::env::var(ATTEMPT_ID).ok().and_then(|text| text.parse().ok());
        above.chain(own).collect()
    })
}

fn attempt_above(pid: u32, except: &BTreeSet<AttemptId>) -> Option<AttemptId> {
    // The topmost mark is Baton's own; a process may set any other for its children.
    let marks = ancestors(pid).into_iter().rev().filter_map(|entry| parse_attempt(&entry.environ()?));
    marks.into_iter().find(|attempt| !except.contains(attempt))
}

/// The process and everything above it, lowest first.
fn ancestors(pid: u32) -> Vec<ProcessEntry> {
    let mut chain = Vec::new();
    let mut next = pid;
    while next > 1 && chain.len() < ANCESTORS_MAX {
        let Some(entry) = ProcessEntry::find(next) else { break };
        next = entry.parent;
        chain.push(entry);
    }
    chain
}

fn parse_attempt(environ: &[u8]) -> Option<AttemptId> {
    // The person's own command that is told of notices has an id too, by which its tree is found.
    if environ.split(|&byte| byte == 0).any(|pair| pair.starts_with(NOTICE)) {
        return None;
    }
    let prefix = format!("{ATTEMPT_ID}=");
    let value = environ.split(|&byte| byte == 0).find_map(|pair| pair.strip_prefix(prefix.as_bytes()))?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_process_is_its_users() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, peer) = listener.accept().unwrap();
        let owner = owner_of_peer(server.local_addr().unwrap(), peer);
        assert_eq!(owner, PeerOwner::User(rustix::process::getuid().as_raw()));
        drop(client);
    }
}
