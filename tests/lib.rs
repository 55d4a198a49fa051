//! Holds the tests of the whole pipeline; there is nothing to use here.
