//! Background services: none stops silently, and the failure of one item affects only that item (I23).

mod checked_out;
mod faulty_server;
mod items;
mod supervised;
