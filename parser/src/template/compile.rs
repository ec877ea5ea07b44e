//! Compiling a `printf` format: the grammar of its conversions, and which of them belong together.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{char, digit0};
use nom::combinator::{all_consuming, map, recognize, value};
use nom::multi::many0;
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::Piece;
use super::conversion::{Conversion, LuidSpelling};
use super::literal::Literal;

/// Splits a format into pieces and gives each conversion its name.
pub fn pieces(format: &'static str, names: &'static str) -> Result<Vec<Piece>, String> {
    let (_, tokens) = all_consuming(many0(token))
        .parse(format)
        .map_err(|error| format!("failed to read the format {format:?}: {error}"))?;
    let mut names = names.split_ascii_whitespace();
    let mut pieces = Vec::new();
    for token in tokens {
        pieces.push(match token {
            Token::Literal(text) => Piece::Literal(Literal::new(text)),
            Token::Conversion(conversion) => {
                let name = names.next().ok_or_else(|| format!("a conversion of {format:?} has no name"))?;
                Piece::Value { name, conversion: conversion.named(name) }
            }
        });
    }
    let adjacent = pieces.windows(2).any(|pair| pair.iter().all(Piece::is_free_text));
    match names.next() {
        Some(name) => Err(format!("the name {name:?} has no conversion in {format:?}")),
        None if adjacent => Err(format!("two texts touch in {format:?}: nothing tells where one ends")),
        None => Ok(pieces),
    }
}

#[derive(Clone)]
enum Token {
    Literal(&'static str),
    Conversion(Conversion),
}

fn token(input: &'static str) -> IResult<&'static str, Token> {
    let literal = alt((value("%", tag("%%")), take_while1(|letter| letter != '%')));
    alt((map(conversion, Token::Conversion), map(literal, Token::Literal))).parse(input)
}

/// Pairs first: two halves of a LUID are one value, and so is a printed pair of tokens.
fn conversion(input: &'static str) -> IResult<&'static str, Conversion> {
    alt((
        value(Conversion::Luid(LuidSpelling::Colon), tag("%08lx:%08lx")),
        value(Conversion::Luid(LuidSpelling::Dash), tag("%08lx-%08lx")),
        value(Conversion::Reasons, tag("%s,%s")),
        value(Conversion::Text, alt((tag("%s"), tag("%ls")))),
        value(Conversion::Char, tag("%c")),
        value(Conversion::Uint, alt((tag("%u"), tag("%llu")))),
        value(Conversion::Int, alt((tag("%d"), tag("%ld"), tag("%lld")))),
        value(Conversion::Hex { width: 16, upper: true }, tag("%p")),
        hex,
        map(preceded(tag("%."), terminated(digit0, char('f'))), |digits: &str| Conversion::Decimal {
            places: digits.parse().unwrap_or(0),
        }),
    ))
    .parse(input)
}

/// `%x`, `%08lx`, `%08lX`, `%016llx`.
fn hex(input: &'static str) -> IResult<&'static str, Conversion> {
    let size = recognize(many0(char('l')));
    let (rest, (width, upper)) =
        (preceded(char('%'), terminated(digit0, size)), alt((value(false, char('x')), value(true, char('X')))))
            .parse(input)?;
    Ok((rest, Conversion::Hex { width: width.parse().unwrap_or(0), upper }))
}
