//! Background services: none dies silently, one item's failure stays with that item (I23).

mod checked_out;
mod faulty_server;
mod items;
mod supervised;
