//! Where pages of redb lie: page size, page numbers, regions.

use kb_types::error::{Error, Result};

use crate::container::layout::codec::{u32_at, u64_at, u128_at};

/// The only page size.
// redb's default. The signature names it, and alignment of payloads and the sizes of extents are
// multiples of it.
pub(crate) const PAGE_SIZE: u32 = 4096;

/// A page and the checksum that its parent holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PagePointer {
    /// Packed order, region and index.
    pub(crate) page: u64,
    /// XXH3-128 of the used bytes of the page.
    pub(crate) checksum: u128,
}

impl PagePointer {
    /// `log2` of the page's size in smallest pages.
    pub(crate) fn order(self) -> u32 {
        // A page number has the index in bits 0..20, the region in bits 20..40 and the order in
        // bits 59..64 (`PageNumber` in redb's `page_store/base.rs`).
        (self.page >> 59) as u32
    }

    /// Bytes of the page.
    pub(crate) fn size_bytes(self) -> u64 {
        u64::from(PAGE_SIZE) << self.order()
    }
}

/// Root of a tree as slots and table definitions hold it: page, checksum, number of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Root {
    /// The topmost page.
    pub(crate) pointer: PagePointer,
    /// Pairs in the tree.
    pub(crate) length: u64,
}

impl Root {
    /// Reads the root at `offset` of `bytes`.
    pub(crate) fn at(bytes: &[u8], offset: usize) -> Result<Root> {
        Ok(Root {
            pointer: PagePointer {
                page: u64_at(bytes, offset)?,
                checksum: u128_at(bytes, offset + 8)?,
            },
            length: u64_at(bytes, offset + 24)?,
        })
    }
}

/// Where regions and pages lie; fixed when the file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Pages before the data of each region.
    pub(crate) region_header_pages: u64,
    /// Data pages of a full region.
    pub(crate) region_pages: u64,
}

impl Geometry {
    /// Reads the geometry from redb's header.
    pub(crate) fn from_header(header: &[u8]) -> Result<Geometry> {
        let geometry = Geometry {
            region_header_pages: u64::from(u32_at(header, 16)?),
            region_pages: u64::from(u32_at(header, 20)?),
        };
        if u32_at(header, 12)? != PAGE_SIZE
            // 2^20 pages are what 20 bits of an index can name. Larger values would overflow the
            // offsets computed below.
            || geometry.region_header_pages > 1 << 20
            || !(1..=1 << 20).contains(&geometry.region_pages)
        {
            return Err(Error::damaged("the page geometry in redb's header"));
        }
        Ok(geometry)
    }

    /// Bytes of a whole region.
    fn region_bytes(self) -> u64 {
        (self.region_header_pages + self.region_pages) * u64::from(PAGE_SIZE)
    }

    /// Bytes of region headers in a file of `len_bytes`.
    pub(crate) fn header_bytes(self, len_bytes: u64) -> u64 {
        let regions = len_bytes
            .saturating_sub(u64::from(PAGE_SIZE))
            .div_ceil(self.region_bytes());
        regions * self.region_header_pages * u64::from(PAGE_SIZE)
    }

    /// Where a page begins in the file.
    pub(crate) fn offset(self, pointer: PagePointer) -> Result<u64> {
        let order = pointer.order();
        // Bits of the index that the order makes meaningless are ignored, as redb does.
        let index = pointer.page & (0xF_FFFF >> order);
        let region = pointer.page >> 20 & 0xF_FFFF;
        // `index` counts pages of its own size, so its end is shifted by the order before it is
        // compared.
        if (index + 1) << order > self.region_pages {
            return Err(Error::damaged(format!(
                "page number {:#x} lies outside its region",
                pointer.page
            )));
        }
        let first_page = u64::from(PAGE_SIZE)
            + region * self.region_bytes()
            + self.region_header_pages * u64::from(PAGE_SIZE);
        Ok(first_page + index * pointer.size_bytes())
    }
}
