//! The fence around an attempt: what was asked for, and what was really built (I21).
//!
//! How a fence is built is in the agents' crate. Here is what is recorded and shown: a [`FenceReport`] is an event of
//! every attempt, so that nobody has to guess whether an agent was confined.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a person insists on the fence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FenceMode {
    /// As much as this machine can do; what is missing is reported.
    #[default]
    Auto,
    /// All of it, or the agent does not start.
    Strict,
    /// None.
    Off,
}

impl FenceMode {
    /// Whether it confines more than `other`.
    pub const fn is_stricter_than(self, other: Self) -> bool {
        self.strictness() > other.strictness()
    }

    const fn strictness(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::Auto => 1,
            Self::Strict => 2,
        }
    }
}

/// What an agent may reach over the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkMode {
    /// Everything this machine reaches.
    #[default]
    Open,
    /// Only the named hosts, through Baton's proxy.
    Allow,
    /// Nothing.
    None,
}

impl NetworkMode {
    /// Whether it lets less through than `other`.
    pub const fn is_stricter_than(self, other: Self) -> bool {
        self.strictness() > other.strictness()
    }

    const fn strictness(self) -> u8 {
        match self {
            Self::Open => 0,
            Self::Allow => 1,
            Self::None => 2,
        }
    }
}

/// A mechanism of the system that confines the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FenceLayer {
    /// Namespaces of Linux: files, processes and network of its own.
    Bubblewrap,
    /// Access rules of the Linux kernel, kept by the process itself.
    Landlock,
    /// The sandbox of macOS.
    Seatbelt,
}

/// A part of the machine that a fence separates from the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FenceAspect {
    Files,
    Processes,
    Network,
}

/// Something that is not fenced, although it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FenceGap {
    pub aspect: FenceAspect,
    /// One sentence.
    pub reason: String,
}

/// Which fence an attempt ran in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FenceReport {
    pub mode: FenceMode,
    pub network: NetworkMode,
    /// Empty when the agent runs with all the rights of its user.
    #[serde(default)]
    pub layers: Vec<FenceLayer>,
    #[serde(default)]
    pub gaps: Vec<FenceGap>,
}

impl FenceReport {
    /// The report of an attempt whose settings ask for no fence.
    pub fn off(network: NetworkMode) -> Self {
        Self { mode: FenceMode::Off, network, layers: Vec::new(), gaps: Vec::new() }
    }

    /// Everything that was asked for is in force.
    pub fn is_complete(&self) -> bool {
        self.gaps.is_empty()
    }
}

/// One line: `fenced by bubblewrap and Landlock, network open`.
impl fmt::Display for FenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mode == FenceMode::Off {
            return f.write_str("not fenced: fence = \"off\"");
        }
        let names: Vec<&str> = self.layers.iter().map(|layer| layer.name()).collect();
        if names.is_empty() {
            f.write_str("not fenced")?;
        } else {
            write!(f, "fenced by {}, network {}", names.join(" and "), self.network)?;
        }
        for (number, gap) in self.gaps.iter().enumerate() {
            let sign = if number == 0 { ": " } else { "; " };
            write!(f, "{sign}{} not fenced: {}", gap.aspect, gap.reason)?;
        }
        Ok(())
    }
}

impl FenceMode {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Strict, Self::Off];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Strict => "strict",
            Self::Off => "off",
        }
    }
}

impl NetworkMode {
    pub const ALL: [Self; 3] = [Self::Open, Self::Allow, Self::None];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Allow => "allow",
            Self::None => "none",
        }
    }
}

impl FenceLayer {
    /// As people write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "Landlock",
            Self::Seatbelt => "Seatbelt",
        }
    }
}

impl fmt::Display for FenceMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for NetworkMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for FenceAspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => "files",
            Self::Processes => "processes",
            Self::Network => "network",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_one_line() {
        let mut report = FenceReport {
            mode: FenceMode::Auto,
            network: NetworkMode::Open,
            layers: vec![FenceLayer::Bubblewrap, FenceLayer::Landlock],
            gaps: Vec::new(),
        };
        assert_eq!(report.to_string(), "fenced by bubblewrap and Landlock, network open");
        report.layers.clear();
        let reason = "bubblewrap is not installed".to_owned();
        report.gaps.push(FenceGap { aspect: FenceAspect::Files, reason });
        assert_eq!(report.to_string(), "not fenced: files not fenced: bubblewrap is not installed");
        assert_eq!(FenceReport::off(NetworkMode::Open).to_string(), "not fenced: fence = \"off\"");
    }
}
