//! A network for one test: network namespaces connected by a bridge in a namespace for the servers.

use std::process::Command;

/// The address of the servers.
pub(crate) const HUB: &str = "10.77.0.1";
/// The addresses that may connect.
pub(crate) const HOSTS: &str = "10.77.0.0/24";

pub(crate) struct Network {
    name: String,
    machines: u8,
}

/// Why network namespaces cannot be used here, if so.
pub(crate) fn missing() -> Option<String> {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    if !is_root {
        return Some("network namespaces need root".to_owned());
    }
    let probe = format!("bt{}p", std::process::id());
    match Command::new("ip").args(["netns", "add", &probe]).output() {
        Ok(made) if made.status.success() => {
            ip(&["netns", "del", &probe]);
            None
        }
        Ok(made) => {
            Some(format!("cannot create a network namespace: {}", String::from_utf8_lossy(&made.stderr)))
        }
        Err(error) => Some(format!("the program ip (iproute2) cannot be started: {error}")),
    }
}

fn ip(words: &[&str]) {
    let done = Command::new("ip").args(words).output().unwrap();
    assert!(done.status.success(), "ip {words:?}: {}", String::from_utf8_lossy(&done.stderr));
}

impl Network {
    pub(crate) fn new(machines: u8) -> Self {
        let network = Self { name: format!("bt{}", std::process::id()), machines };
        let hub = network.hub();
        ip(&["netns", "add", &hub]);
        ip(&["-n", &hub, "link", "set", "lo", "up"]);
        ip(&["-n", &hub, "link", "add", "bridge", "type", "bridge"]);
        ip(&["-n", &hub, "addr", "add", &format!("{HUB}/24"), "dev", "bridge"]);
        ip(&["-n", &hub, "link", "set", "bridge", "up"]);
        for number in 0..machines {
            let (machine, cable) = (network.machine(number), cable(number));
            ip(&["netns", "add", &machine]);
            ip(&["-n", &machine, "link", "set", "lo", "up"]);
            ip(&[
                "-n", &hub, "link", "add", &cable, "type", "veth", "peer", "name", "net", "netns", &machine,
            ]);
            ip(&["-n", &hub, "link", "set", &cable, "master", "bridge", "up"]);
            ip(&["-n", &machine, "addr", "add", &format!("10.77.0.{}/24", 10 + number), "dev", "net"]);
            ip(&["-n", &machine, "link", "set", "net", "up"]);
        }
        network
    }

    /// The namespace the servers run in.
    pub(crate) fn hub(&self) -> String {
        format!("{}h", self.name)
    }

    /// The namespace of one machine.
    pub(crate) fn machine(&self, number: u8) -> String {
        format!("{}m{number}", self.name)
    }

    /// The words before a command that run it there.
    pub(crate) fn inside(namespace: &str) -> Vec<String> {
        ["ip", "netns", "exec", namespace].map(str::to_owned).to_vec()
    }

    /// Disconnects the machine.
    pub(crate) fn cut(&self, number: u8) {
        ip(&["-n", &self.hub(), "link", "set", &cable(number), "down"]);
    }

    pub(crate) fn reconnect(&self, number: u8) {
        ip(&["-n", &self.hub(), "link", "set", &cable(number), "up"]);
    }
}

fn cable(number: u8) -> String {
    format!("m{number}")
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in (0..self.machines).map(|number| self.machine(number)).chain([self.hub()]) {
            // Some may not exist if the test failed early.
            let _ = Command::new("ip").args(["netns", "del", &name]).output();
        }
    }
}
