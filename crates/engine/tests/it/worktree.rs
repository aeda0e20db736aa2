//! The git room against real repositories, one file for each of its nouns.

mod checkout;
mod crash;
mod git;
mod isolation;
mod measure;
mod merge;
mod random_trees;
mod repository;
mod retention;
mod spare;
mod vault;
