//! The usage text.

pub const USAGE: &str = "Usage: task [flags...] [task...] [NAME=value...] [-- args...]

Runs the named tasks of the Taskfile, or the task \"default\". The words after -- are
{{.CLI_ARGS}} in the Taskfile.

Finding the Taskfile:
  -t, --taskfile FILE               use this file; tasks run beside it
  -d, --dir DIR                     look and run in this directory
  -g, --global                      use the Taskfile in your home directory
  -i, --init                        write a new Taskfile.yml here

Looking:
  -l, --list                        tasks with a description
  -a, --list-all                    all tasks
  -j, --json                        the list as JSON (--no-status, --nested)
      --sort default|alphanumeric|none
      --summary                     what a task is and does
      --status                      fail if a task is not up to date
  -n, --dry                         show the commands, run none

Running:
  -f, --force                       run what is up to date too
  -p, --parallel                    run the named tasks at once
  -F, --failfast                    the first failure ends tasks that run at once
  -s, --silent                      do not show commands
  -v, --verbose                     say more
  -y, --yes                         answer questions with yes
  -x, --exit-code                   end with the code of the command that failed
  -o, --output interleaved|group|prefixed
      --output-group-begin TEXT, --output-group-end TEXT, --output-group-error-only
      --temp-dir DIR                keep the state of tasks here instead of .task
      --disable-fuzzy               suggest no task names

  -h, --help                        this text
      --version                     the version of go-task this is compatible with
";
