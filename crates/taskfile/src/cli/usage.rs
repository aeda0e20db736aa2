//! The usage text.

pub(super) const USAGE: &str = "Usage: task [flags...] [task...] [NAME=value...] [-- args...]

Runs the named tasks of the Taskfile, or the task \"default\". Arguments after -- are
{{.CLI_ARGS}} in the Taskfile.

Finding the Taskfile:
  -t, --taskfile FILE               use this file; tasks run in its directory
  -d, --dir DIR                     find the Taskfile and run tasks in this directory
  -g, --global                      use the Taskfile in your home directory
  -i, --init                        create a Taskfile.yml here

Listing:
  -l, --list                        list tasks with a description
  -a, --list-all                    list all tasks
  -j, --json                        print the list as JSON (--no-status, --nested)
      --sort default|alphanumeric|none
      --summary                     print the summary of a task
      --status                      fail if a task is not up to date
  -n, --dry                         print commands without running them

Running:
  -f, --force                       run tasks even if they are up to date
  -p, --parallel                    run the named tasks concurrently
  -F, --failfast                    stop concurrent tasks at the first failure
  -s, --silent                      do not print commands
  -v, --verbose                     print more details
  -y, --yes                         answer prompts with yes
  -x, --exit-code                   exit with the code of the failed command
  -o, --output interleaved|group|prefixed
      --output-group-begin TEXT, --output-group-end TEXT, --output-group-error-only
      --temp-dir DIR                store task state here instead of in .task
      --disable-fuzzy               do not suggest task names

  -h, --help                        print this text
      --version                     print the compatible go-task version
";
