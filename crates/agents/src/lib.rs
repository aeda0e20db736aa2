//! One agent process, driven.
