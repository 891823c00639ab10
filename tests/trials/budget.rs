//! Counts the memory that a thread holds and allocates: a bound on work that does not depend on time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that are held, and the most of them.
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
    /// Bytes that were ever asked for.
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: isize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        let now = now + bytes;
        held.set((now, most.max(now)));
    });
    if bytes > 0 {
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + bytes.unsigned_abs() as u64));
    }
}

// SAFETY: every call is passed on to the system's allocator as it came; the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `dealloc`, and the pointer is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` gives, the most bytes that it held at once, and all bytes that it asked for. Only of the
/// calling thread.
pub(super) fn measured<T>(work: impl FnOnce() -> T) -> (T, usize, u64) {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    let asked = ASKED.get();
    let value = work();
    let (_, most) = HELD.get();
    (
        value,
        (most - before).max(0).unsigned_abs(),
        ASKED.get() - asked,
    )
}

#[test]
fn what_is_held_and_asked_for_is_counted() {
    let (_, most, asked) = measured(|| {
        for _ in 0..10 {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 20)));
        }
    });
    assert!((1 << 20..2 << 20).contains(&most), "{most}");
    assert!((10 << 20..11 << 20).contains(&asked), "{asked}");
}
