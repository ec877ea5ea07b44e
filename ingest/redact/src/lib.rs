//! Takes out of texts and events what must not leave a machine.
