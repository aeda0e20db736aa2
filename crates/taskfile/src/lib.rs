//! Taskfile.yml, parsed and run.
