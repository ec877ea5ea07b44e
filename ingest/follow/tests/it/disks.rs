//! Disks that lie, refuse, or count what they are asked.
