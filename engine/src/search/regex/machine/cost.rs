//! How many steps a byte takes at most.

use regex_syntax::hir::{Class, Hir, HirKind};

/// States of a class of characters that one byte can be in, or pass on its way there.
// An average of UTF-8 classes such as `\w`, which compile to some states for each length of a
// character.
const CLASS_STEPS: u64 = 8;

/// An upper estimate of the steps that an automaton of the pattern takes for a byte when it follows all its states:
/// those for each character of it, with repetitions written out.
pub(in crate::search::regex) fn steps_per_byte(hir: &Hir) -> u64 {
    // These are searched for without an automaton.
    if matches!(hir.kind(), HirKind::Literal(_)) {
        return 1;
    }
    steps(hir).saturating_add(1)
}

fn steps(hir: &Hir) -> u64 {
    let all = |subs: &[Hir]| {
        let each = subs.iter().map(|sub| steps(sub).saturating_add(1));
        each.fold(0, u64::saturating_add)
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1,
        HirKind::Class(Class::Unicode(_)) => CLASS_STEPS,
        HirKind::Capture(capture) => steps(&capture.sub),
        HirKind::Repetition(repetition) => {
            // The compiler writes a repetition out as often as its largest bound, and an open one
            // as often as its least.
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            let once = steps(&repetition.sub).saturating_add(1);
            once.saturating_mul(u64::from(times))
        }
        HirKind::Concat(subs) | HirKind::Alternation(subs) => all(subs),
    }
}
