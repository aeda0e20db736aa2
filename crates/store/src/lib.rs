//! Rows, transactions and events that outlive a crash. Filled in by the store itself.
