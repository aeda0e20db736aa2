//! Which places of a machine are the system's, and which are secrets.

/// Readable in every fence: programs and their configuration.
pub(super) const SYSTEM: [&str; 13] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap",
    "/sys",
];

/// Secrets among them. They matter when Baton runs as root; other users cannot read them anyway.
pub(super) const SYSTEM_SECRETS: [&str; 10] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/rancher",
];

/// What is secret below the home, even where a folder above it is made visible.
pub(super) const HOME_SECRETS: [&str; 36] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/baton",
    ".config/op",
    ".config/containers/auth.json",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/systemd",
    ".config/autostart",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".vault-token",
    ".terraform.d",
    ".bash_history",
];

/// Toolchains below the home: readable, so that what a project needs is found.
pub(super) const HOME_TOOLS: [&str; 14] = [
    ".rustup",
    ".cargo",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".deno",
    ".bun",
    ".volta",
    "go",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
];

/// Git's own settings: names, ignored files and attributes, without stored passwords.
pub(super) const HOME_GIT: [&str; 4] =
    [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/// Variables that lead to a socket or a folder outside the fence.
pub(super) const REMOVED_VARIABLES: [&str; 9] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];
