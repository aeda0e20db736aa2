//! The system's table of TCP connections: who owns one, and by which number it is found among open files.
//!
//! The kernel answers for one connection over netlink. Where it does not, the whole table is read, which takes long with
//! thousands of connections that have just ended.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TcpEntry {
    pub(super) uid: u32,
    pub(super) inode: u64,
    /// The id of the control group it was made in, where the kernel tells.
    pub(super) group: Option<u64>,
}

/// The end `own` of a connection to `other`.
pub(super) fn find(own: SocketAddr, other: SocketAddr) -> Option<TcpEntry> {
    ask_kernel(own, other).or_else(|| find_in_table(own, other))
}

/// Whether connections can be looked up at all.
pub(super) fn is_readable() -> bool {
    fs::File::open("/proc/net/tcp").is_ok()
}

/// None if there is none, or the kernel does not answer such questions.
#[cfg(target_os = "linux")]
fn ask_kernel(own: SocketAddr, other: SocketAddr) -> Option<TcpEntry> {
    let request = netlink::request(own, other);
    netlink::exchange(&request).ok().and_then(|answer| netlink::parse(&request, &answer))
}

#[cfg(not(target_os = "linux"))]
fn ask_kernel(_: SocketAddr, _: SocketAddr) -> Option<TcpEntry> {
    None
}

/// `sock_diag(7)`: one message there, one back.
#[cfg(target_os = "linux")]
mod netlink {
    use super::{IpAddr, SocketAddr, TcpEntry, io};

    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    };

    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const TCP: u8 = 6;
    const HEAD_BYTES: u32 = 16;
    /// Where ports and addresses are in a request and in an answer.
    const ENDS_ASKED: std::ops::Range<usize> = 24..60;
    const ENDS_ANSWERED: std::ops::Range<usize> = 20..56;
    /// Where an answer has the user and the inode.
    const UID_AT: usize = 80;
    const INODE_AT: usize = 84;
    /// Attributes follow, each a length, a kind and a value, aligned to four bytes.
    const ATTRIBUTES_AT: usize = 88;
    const INET_DIAG_CGROUP_ID: u16 = 21;

    /// A header, then an `inet_diag_req_v2`.
    pub(super) fn request(own: SocketAddr, other: SocketAddr) -> Vec<u8> {
        let (own, other) = (canonical(own), canonical(other));
        let family = if own.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let family = u8::try_from(family.as_raw()).unwrap_or_default();
        let mut body = vec![family, TCP, 0, 0];
        // In any state.
        body.extend(u32::MAX.to_ne_bytes());
        body.extend(own.port().to_be_bytes());
        body.extend(other.port().to_be_bytes());
        body.extend(address(own));
        body.extend(address(other));
        // On any interface, whatever its cookie.
        body.extend(0_u32.to_ne_bytes());
        body.extend([0xff; 8]);
        let length = HEAD_BYTES + u32::try_from(body.len()).unwrap_or_default();
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        message.extend(NLM_F_REQUEST.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        message
    }

    fn canonical(address: SocketAddr) -> SocketAddr {
        SocketAddr::new(address.ip().to_canonical(), address.port())
    }

    fn address(of: SocketAddr) -> [u8; 16] {
        match of.ip() {
            IpAddr::V4(ip) => {
                let mut padded = [0; 16];
                padded[..4].copy_from_slice(&ip.octets());
                padded
            }
            IpAddr::V6(ip) => ip.octets(),
        }
    }

    pub(super) fn exchange(request: &[u8]) -> io::Result<Vec<u8>> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        send(&socket, request, SendFlags::empty())?;
        let mut answer = vec![0; 4096];
        let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
        answer.truncate(length);
        Ok(answer)
    }

    /// None for an error, which is a message of another type, and for another socket: where there is no such connection, the
    /// kernel names the process that listens on the port.
    pub(super) fn parse(request: &[u8], answer: &[u8]) -> Option<TcpEntry> {
        if answer.get(ENDS_ANSWERED)? != request.get(ENDS_ASKED)? {
            return None;
        }
        let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
        let number = |at: usize| Some(u32::from_ne_bytes(answer.get(at..at + 4)?.try_into().ok()?));
        let (uid, inode) = (number(UID_AT)?, number(INODE_AT)?);
        // A connection that has ended has no inode.
        let group = attribute(answer.get(ATTRIBUTES_AT..).unwrap_or_default(), INET_DIAG_CGROUP_ID);
        (kind == SOCK_DIAG_BY_FAMILY && inode != 0).then_some(TcpEntry { uid, inode: inode.into(), group })
    }

    /// The attribute of this kind, if it is a number of eight bytes.
    fn attribute(mut rest: &[u8], wanted: u16) -> Option<u64> {
        loop {
            let length = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
            let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?);
            let value = rest.get(4..length)?;
            if kind == wanted {
                return value.try_into().ok().map(u64::from_ne_bytes);
            }
            rest = rest.get(length.next_multiple_of(4)..)?;
        }
    }
}

fn find_in_table(own: SocketAddr, other: SocketAddr) -> Option<TcpEntry> {
    ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|path| {
        let table = fs::read_to_string(path).ok()?;
        table.lines().skip(1).find_map(|line| {
            let (here, there, entry) = parse_line(line)?;
            (is_same(here, own) && is_same(there, other) && entry.inode != 0).then_some(entry)
        })
    })
}

fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

/// `sl local remote state queues timer retries uid timeout inode …`, numbers in the machine's byte order.
fn parse_line(line: &str) -> Option<(SocketAddr, SocketAddr, TcpEntry)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (own, other) = (parse_address(fields.next()?)?, parse_address(fields.next()?)?);
    let uid = fields.nth(4)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    Some((own, other, TcpEntry { uid, inode, group: None }))
}

fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words: Vec<[u8; 4]> = (0..address.len() / 8)
        .map(|word| u32::from_str_radix(address.get(word * 8..word * 8 + 8)?, 16).ok().map(u32::to_ne_bytes))
        .collect::<Option<_>>()?;
    let ip: IpAddr = match words.as_slice() {
        [only] => (*only).into(),
        [_, _, _, _] => Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?).into(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn addresses_of_the_table_are_read() {
        let line =
            "   0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000 0 4242 1 0";
        let (own, other, entry) = parse_line(line).unwrap();
        assert_eq!((own, other), ("127.0.0.1:8080".parse().unwrap(), "127.0.0.1:50000".parse().unwrap()));
        assert_eq!(entry, TcpEntry { uid: 1000, inode: 4242, group: None });
        let mapped = parse_address("0000000000000000FFFF00000100007F:0050").unwrap();
        assert!(is_same(mapped, "127.0.0.1:80".parse().unwrap()));
    }

    #[test]
    fn the_kernel_and_the_table_say_the_same() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Not every machine has both.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            let local = server.local_addr().unwrap();
            let in_table = find_in_table(peer, local).unwrap();
            // Where the kernel does not answer, the table alone counts.
            let same = |asked: TcpEntry| (asked.uid, asked.inode) == (in_table.uid, in_table.inode);
            let asked = ask_kernel(peer, local);
            assert!(asked.is_none_or(same), "{address}");
            assert!(find(peer, local).is_some_and(same));
            // Where both are told, it is the group that this process is in.
            let own = crate::process::cgroup::id_of(std::process::id());
            if let (Some(made_in), Some(own)) = (asked.and_then(|asked| asked.group), own) {
                assert_eq!(made_in, own.id);
            }
            assert_eq!(
                find(local, SocketAddr::new(local.ip(), 9)),
                None,
                "the listener is not the connection"
            );
            drop(client);
        }
    }

    #[test]
    fn strange_answers_are_no_entry() {
        let request = netlink::request("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
        for answer in [vec![], vec![0; 16], vec![0xff; 40], vec![0; 200]] {
            assert_eq!(netlink::parse(&request, &answer), None);
        }
    }
}
