//! What the pieces of one log change, worked out before the database is asked to change anything: so many pieces cost as
//! few statements as one.
//!
//! Pure: what is stored comes in, what has to be deleted and inserted comes out.

use std::collections::BTreeMap;
use std::io;

use wire::Segment;

use super::bodies::{Body, offset};
use super::ranges::{Claim, MOST, Range, Ranges};

/// A segment of a batch, ready to be stored.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// Its own in the batch.
    pub place: u64,
    /// As it was sent, with its observations by offset.
    pub segment: Segment,
    /// The row that its observations become.
    pub body: Body,
}

/// Pieces of one log, in the order in which they came.
#[derive(Debug)]
pub struct Pieces<'a> {
    stored: BTreeMap<Range, i64>,
    ranges: Ranges,
    fresh: BTreeMap<Range, &'a Piece>,
    newest: Option<&'a Segment>,
    refused: Vec<(u64, String)>,
}

/// What becomes of the rows of the log.
#[derive(Debug)]
pub struct Changes<'a> {
    /// All ranges.
    pub ranges: Ranges,
    /// Stored ranges that others have taken the place of.
    pub gone: Vec<Range>,
    /// Pieces that become rows.
    pub new: Vec<(Range, &'a Piece)>,
    /// Rows that are made of several, by start.
    pub joined: Vec<(Range, Vec<Part<'a>>)>,
    /// Whose observations count, by offset.
    pub parts: Vec<Part<'a>>,
    /// The piece that ends last: facts and the rest are known best by it.
    pub newest: Option<&'a Segment>,
    /// Pieces that were left out, by their place in the batch, with the reason.
    pub refused: Vec<(u64, String)>,
}

/// A range with the observations that it knows best.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// As it arrived, or as it is stored.
    pub range: Range,
    /// Where a later range begins to know better.
    pub limit: i64,
    /// What its stored row holds, as plain JSON.
    pub plain_bytes: i64,
    /// The piece, where it is not the stored row that counts.
    pub fresh: Option<&'a Piece>,
}

impl Piece {
    /// Packs a segment. Slow for a large one, so not for an async thread.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(place: u64, mut segment: Segment) -> io::Result<Self> {
        // Stable: what is told of one record keeps its order.
        segment.observations.sort_by_key(wire::Observation::offset);
        let body = Body::pack(&segment.observations)?;
        Ok(Self { place, segment, body })
    }

    fn range(&self) -> Range {
        // Offsets were checked to fit when the batch was read.
        let signed = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX);
        Range { start: signed(self.segment.start), end: signed(self.segment.end) }
    }
}

impl<'a> Pieces<'a> {
    /// On top of the ranges that are stored, each with what it holds.
    pub fn new(stored: Vec<(Range, i64)>) -> Self {
        Self {
            ranges: stored.iter().copied().collect(),
            stored: stored.into_iter().collect(),
            fresh: BTreeMap::new(),
            newest: None,
            refused: Vec::new(),
        }
    }

    /// Adds a piece.
    pub fn add(&mut self, piece: &'a Piece) {
        let range = piece.range();
        match self.ranges.claim(range, piece.body.plain_bytes) {
            Claim::TooMany => {
                let why =
                    format!("the log has {MOST} pieces with gaps between them already: send the missing ones first");
                self.refused.push((piece.place, why));
                return;
            }
            Claim::Nothing => {}
            Claim::Taken => {
                self.fresh.insert(range, piece);
            }
        }
        if self.newest.is_none_or(|newest| newest.end <= piece.segment.end) {
            self.newest = Some(&piece.segment);
        }
    }

    /// The sum of it.
    pub fn changes(self) -> Changes<'a> {
        let parts: Vec<Part<'a>> = self
            .ranges
            .owners()
            .map(|(range, limit)| {
                let plain_bytes = self.stored.get(&range).copied().unwrap_or(0);
                Part { range, limit, plain_bytes, fresh: self.fresh.get(&range).copied() }
            })
            .collect();
        let mut gone = self.stored;
        let (mut new, mut joined) = (Vec::new(), Vec::new());
        let mut rest = parts.as_slice();
        for held in self.ranges.iter() {
            let own;
            (own, rest) = rest.split_at(held.parts.len());
            match own {
                [Part { fresh: None, .. }] => {
                    gone.remove(&held.range);
                }
                [Part { fresh: Some(piece), .. }] => new.push((held.range, *piece)),
                _ => joined.push((held.range, own.to_vec())),
            }
        }
        Changes {
            gone: gone.into_keys().collect(),
            new,
            joined,
            parts,
            ranges: self.ranges,
            newest: self.newest,
            refused: self.refused,
        }
    }
}

impl Part<'_> {
    /// The observations of a piece that count.
    pub fn owned<'p>(&self, piece: &'p Piece) -> &'p [wire::Observation] {
        let all = piece.segment.observations.as_slice();
        &all[..all.partition_point(|one| offset(one) < self.limit)]
    }
}
