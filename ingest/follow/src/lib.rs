//! From folders to what is new in which log.
