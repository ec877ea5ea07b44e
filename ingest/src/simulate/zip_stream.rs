//! A zip archive of any number of members, written to a pipe.
//!
//! Members come compressed, because they are made and compressed on many threads; the table of contents, which stands at the
//! end of an archive, waits in a temporary file. So memory grows neither with the number of members nor with their size. The
//! library that the bundles use keeps that table in memory and compresses in one place.

use std::io::{self, Read, Seek as _, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use jiff::civil::DateTime;
use tempfile::SpooledTempFile;

/// Until here the table of contents stays in memory.
const MEMORY_BYTES: usize = 4 << 20;
const VERSION_DEFLATE: u16 = 20;
const VERSION_ZIP64: u16 = 45;
const FLAG_UTF8: u16 = 1 << 11;
const METHOD_DEFLATE: u16 = 8;

/// A member that can be written.
#[derive(Clone, Debug)]
pub struct Member {
    name: String,
    /// Date and time as MS-DOS knew them.
    moment: (u16, u16),
    crc: u32,
    size: u32,
    deflated: Vec<u8>,
}

impl Member {
    /// Compresses the contents of a member.
    ///
    /// # Errors
    /// When they have more than 4 GiB: such members need another form.
    pub fn new(name: String, moment: DateTime, contents: &[u8]) -> io::Result<Self> {
        let size = u32::try_from(contents.len()).map_err(io::Error::other)?;
        let mut encoder = DeflateEncoder::new(Vec::with_capacity(contents.len() / 8 + 64), Compression::fast());
        encoder.write_all(contents)?;
        Ok(Self { name, moment: dos(moment), crc: crc32fast::hash(contents), size, deflated: encoder.finish()? })
    }

    /// What local header and table of contents both say.
    fn common(&self, version: u16) -> io::Result<Vec<u8>> {
        let name = u16::try_from(self.name.len()).map_err(io::Error::other)?;
        let deflated = u32::try_from(self.deflated.len()).map_err(io::Error::other)?;
        let mut out = Vec::with_capacity(64 + self.name.len());
        for word in [version, FLAG_UTF8, METHOD_DEFLATE, self.moment.1, self.moment.0] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        for long in [self.crc, deflated, self.size] {
            out.extend_from_slice(&long.to_le_bytes());
        }
        out.extend_from_slice(&name.to_le_bytes());
        Ok(out)
    }
}

/// An archive that is being written.
pub struct ZipStream<W> {
    out: W,
    written: u64,
    members: u64,
    contents: SpooledTempFile,
}

impl<W: Write> ZipStream<W> {
    /// An empty archive.
    pub fn new(out: W) -> Self {
        Self { out, written: 0, members: 0, contents: SpooledTempFile::new(MEMORY_BYTES) }
    }

    /// Writes a member.
    pub fn add(&mut self, member: &Member) -> io::Result<()> {
        let offset = self.written;
        self.put(b"PK\x03\x04")?;
        self.put(&member.common(VERSION_DEFLATE)?)?;
        self.put(&0_u16.to_le_bytes())?;
        self.put(member.name.as_bytes())?;
        self.put(&member.deflated)?;

        // Where the place does not fit into 32 bits it stands in an extra field (zip64).
        let short = u32::try_from(offset).ok().filter(|place| *place != u32::MAX);
        let version = if short.is_some() { VERSION_DEFLATE } else { VERSION_ZIP64 };
        let extra = if short.is_some() { Vec::new() } else { [&[1, 0, 8, 0][..], &offset.to_le_bytes()].concat() };
        let mut row = b"PK\x01\x02".to_vec();
        row.extend_from_slice(&version.to_le_bytes());
        row.extend_from_slice(&member.common(version)?);
        row.extend_from_slice(&u16::try_from(extra.len()).unwrap_or_default().to_le_bytes());
        // No comment, the first disk, no attributes.
        row.extend_from_slice(&[0; 10]);
        row.extend_from_slice(&short.unwrap_or(u32::MAX).to_le_bytes());
        row.extend_from_slice(member.name.as_bytes());
        row.extend_from_slice(&extra);
        self.contents.write_all(&row)?;
        self.members += 1;
        Ok(())
    }

    /// Writes the table of contents and gives the output back.
    pub fn finish(mut self) -> io::Result<W> {
        let start = self.written;
        self.contents.rewind()?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = self.contents.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            self.put(&buffer[..count])?;
        }
        let (size, end) = (self.written - start, self.written);
        let large = self.members >= u64::from(u16::MAX) || end >= u64::from(u32::MAX);
        if large {
            let mut record = b"PK\x06\x06".to_vec();
            record.extend_from_slice(&44_u64.to_le_bytes());
            record.extend_from_slice(&VERSION_ZIP64.to_le_bytes());
            record.extend_from_slice(&VERSION_ZIP64.to_le_bytes());
            record.extend_from_slice(&[0; 8]);
            for number in [self.members, self.members, size, start] {
                record.extend_from_slice(&number.to_le_bytes());
            }
            record.extend_from_slice(b"PK\x06\x07\0\0\0\0");
            record.extend_from_slice(&end.to_le_bytes());
            record.extend_from_slice(&1_u32.to_le_bytes());
            self.put(&record)?;
        }
        let members = u16::try_from(self.members).unwrap_or(u16::MAX);
        let mut record = b"PK\x05\x06\0\0\0\0".to_vec();
        record.extend_from_slice(&members.to_le_bytes());
        record.extend_from_slice(&members.to_le_bytes());
        for number in [size, start] {
            record.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        record.extend_from_slice(&[0; 2]);
        self.put(&record)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

/// Date and time as MS-DOS knew them: from 1980, two seconds apart.
fn dos(moment: DateTime) -> (u16, u16) {
    let part = |value: i8| u16::try_from(value).unwrap_or_default();
    let year = u16::try_from(moment.year() - 1980).unwrap_or_default().min(127);
    let date = year << 9 | part(moment.month()) << 5 | part(moment.day());
    (date, part(moment.hour()) << 11 | part(moment.minute()) << 5 | (part(moment.second()) / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENT: DateTime = DateTime::constant(2026, 11, 2, 9, 14, 8, 0);

    /// Members with numbers for names, behind so many bytes that are not there.
    fn archive(members: u32, behind: u64) -> Vec<u8> {
        let mut zip = ZipStream { written: behind, ..ZipStream::new(Vec::new()) };
        let mut member = Member::new(String::new(), MOMENT, b"a log\n").expect("it is short");
        for number in 0..members {
            member.name = format!("machine/ü-{number}.log");
            zip.add(&member).expect("memory takes it");
        }
        zip.finish().expect("memory takes it")
    }

    /// Bytes behind so many zeros.
    struct Behind {
        zeros: u64,
        bytes: Vec<u8>,
        at: u64,
    }

    impl Read for Behind {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = if self.at < self.zeros {
                let left = usize::try_from(self.zeros - self.at).unwrap_or(usize::MAX).min(buffer.len());
                buffer[..left].fill(0);
                left
            } else {
                let from = usize::try_from(self.at - self.zeros).expect("short").min(self.bytes.len());
                (&self.bytes[from..]).read(buffer)?
            };
            self.at += count as u64;
            Ok(count)
        }
    }

    impl io::Seek for Behind {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            let end = self.zeros + self.bytes.len() as u64;
            let at = match to {
                io::SeekFrom::Start(at) => Some(at),
                io::SeekFrom::End(by) => end.checked_add_signed(by),
                io::SeekFrom::Current(by) => self.at.checked_add_signed(by),
            };
            self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
            Ok(self.at)
        }
    }

    /// All members are there, in order, whatever stands before them.
    fn check(members: u32, zeros: u64) {
        let bytes = archive(members, zeros);
        let mut seen = 0;
        triage::bundle::members(
            Behind { zeros, bytes, at: 0 },
            &mut |name, contents| {
                let mut text = String::new();
                contents.read_to_string(&mut text).expect("its sum is right");
                assert_eq!((name, text.as_str()), (format!("machine/ü-{seen}.log").as_str(), "a log\n"));
                seen += 1;
            },
            &mut |name, error| panic!("{name:?}: {error}"),
        );
        assert_eq!(seen, members);
    }

    #[test]
    fn another_reader_reads_it() {
        let mut zip = zip::ZipArchive::new(io::Cursor::new(archive(3, 0))).expect("an archive");
        assert_eq!(zip.len(), 3);
        let mut member = zip.by_name("machine/ü-2.log").expect("a member");
        let time = member.last_modified().expect("a moment");
        assert_eq!(
            (time.year(), time.month(), time.day(), time.hour(), time.minute(), time.second()),
            (2026, 11, 2, 9, 14, 8)
        );
        let mut text = String::new();
        member.read_to_string(&mut text).expect("its sum is right");
        assert_eq!(text, "a log\n");
        assert_eq!(zip::ZipArchive::new(io::Cursor::new(archive(0, 0))).expect("an empty archive").len(), 0);
    }

    #[test]
    fn more_members_than_sixteen_bits_count() {
        check(70_001, 0);
    }

    #[test]
    fn members_behind_more_than_thirty_two_bits_count() {
        check(3, u64::from(u32::MAX) - 20);
        check(3, 5 << 30);
    }
}
