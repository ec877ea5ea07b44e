//! One conversion of a format: how its value is read and printed.

use std::fmt::Write as _;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{anychar, char, digit1};
use nom::combinator::{map_res, opt, recognize};
use nom::{IResult, Parser};

use wire::{Luid, Reason, Value};

/// The type of a conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conversion {
    /// `%s`, `%ls`: any text, also none; ends where the following chunk of the format fits.
    Text,
    /// `%c`: one character.
    Char,
    /// A `%s` that holds a comma list of tokens; known by its name, `reasons`. Free text like any other: a token that no
    /// build has printed so far is kept as it stands.
    Reasons,
    /// `%u`, `%llu`.
    Uint,
    /// `%d`, `%ld`, `%lld`.
    Int,
    /// `%x` and its kin; `width` digits at least.
    Hex {
        /// Padded to this many digits.
        width: usize,
        /// `%X`, and `%p` on Windows.
        upper: bool,
    },
    /// `%.1f` and its kin.
    Decimal {
        /// Digits behind the point.
        places: usize,
    },
    /// An adapter id.
    Luid(LuidSpelling),
}

/// How a record spells an adapter id (vocabulary section 4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LuidSpelling {
    /// `00000000:00015f3a`.
    Colon,
    /// `00000000-00015f3a`.
    Dash,
    /// `0000000000015f3a`, behind a literal `0x`.
    Packed,
}

impl Conversion {
    /// Two types are told by the name that the table gives: token lists, and adapter ids printed as one number.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        match self {
            Self::Text if name == "reasons" => Self::Reasons,
            Self::Hex { .. } if name.ends_with("luid") => Self::Luid(LuidSpelling::Packed),
            other => other,
        }
    }

    /// Makes the value of a free text.
    pub fn of_text(self, text: &str) -> Value {
        match self {
            Self::Reasons if text.is_empty() => Value::Reasons(Vec::new()),
            Self::Reasons => Value::Reasons(Reason::list(text)),
            _ => Value::Text(text.to_owned()),
        }
    }

    /// Reads a value at the start of `input`; what is left, and the value. Free text is the caller's.
    pub fn read(self, input: &str) -> Option<(&str, Value)> {
        let read: IResult<&str, Value> = match self {
            Self::Text | Self::Reasons => return None,
            Self::Char => anychar.map(|letter| Value::Text(letter.to_string())).parse(input),
            Self::Uint => map_res(digit1, |digits: &str| digits.parse().map(Value::Uint)).parse(input),
            Self::Int => {
                map_res(recognize((opt(char('-')), digit1)), |digits: &str| digits.parse().map(Value::Int)).parse(input)
            }
            Self::Hex { .. } => hex.map(Value::Hex).parse(input),
            Self::Decimal { .. } => decimal.map(|text| Value::Decimal(text.to_owned())).parse(input),
            Self::Luid(LuidSpelling::Packed) => hex.map(|value| Value::Luid(Luid(value))).parse(input),
            Self::Luid(LuidSpelling::Colon) => luid(input, ':'),
            Self::Luid(LuidSpelling::Dash) => luid(input, '-'),
        };
        read.ok()
    }

    /// Prints a value as the runtime does; `None` when it is of another type.
    pub fn print(self, value: &Value, out: &mut String) -> Option<()> {
        match (self, value) {
            (Self::Text | Self::Char, Value::Text(text)) | (Self::Decimal { .. }, Value::Decimal(text)) => {
                out.push_str(text);
                Ok(())
            }
            (Self::Reasons, Value::Reasons(reasons)) => {
                for (index, reason) in reasons.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(reason.as_str());
                }
                Ok(())
            }
            (Self::Uint, Value::Uint(value)) => write!(out, "{value}"),
            (Self::Int, Value::Int(value)) => write!(out, "{value}"),
            (Self::Hex { width, upper: false }, Value::Hex(value)) => write!(out, "{value:0width$x}"),
            (Self::Hex { width, upper: true }, Value::Hex(value)) => write!(out, "{value:0width$X}"),
            (Self::Luid(spelling), Value::Luid(luid)) => match spelling {
                LuidSpelling::Colon => write!(out, "{luid}"),
                LuidSpelling::Dash => write!(out, "{:08x}-{:08x}", luid.high(), luid.low()),
                LuidSpelling::Packed => write!(out, "{:016x}", luid.0),
            },
            _ => return None,
        }
        .ok()
    }
}

/// One to sixteen hex digits in either case.
fn hex(input: &str) -> IResult<&str, u64> {
    map_res(take_while1(|letter: char| letter.is_ascii_hexdigit()), |digits: &str| u64::from_str_radix(digits, 16))
        .parse(input)
}

/// Two halves of at most 32 bits each.
fn luid(input: &str, separator: char) -> IResult<&str, Value> {
    let half = || map_res(hex, u32::try_from);
    (half(), char(separator), half()).map(|(high, _, low)| Value::Luid(Luid::from_parts(high, low))).parse(input)
}

/// A finite number in digits, or one of the ways in which C runtimes print the others.
fn decimal(input: &str) -> IResult<&str, &str> {
    let finite = recognize((opt(char('-')), digit1, opt((char('.'), digit1))));
    let other = recognize((
        opt(char('-')),
        alt((tag("inf"), tag("nan"), tag("1.#INF"), tag("1.#IND"), tag("1.#QNAN"))),
        opt(alt((tag("(ind)"), tag("(snan)")))),
    ));
    alt((finite, other)).parse(input)
}
