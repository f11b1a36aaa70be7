//! The day on real servers: reports over HTTP into Redis, with ingest, servers and primaries killed under load. What was
//! answered as stored is recounted plainly and has to be what the program holds.

mod durability;
mod feed;
mod load;
mod midnight;
mod overload;
mod stage;
mod whole;
