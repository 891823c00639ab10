//! Shares of what there is only some of: places, bytes, turns.
//!
//! Every owner has some that nobody else can take; what is beyond that comes from one stock for all,
//! so that a single owner may take much, and many owners still have theirs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::tokens::{Hash, TOKENS_LIMIT};

/// Who asks: a token, or anybody where none are asked for. Not the name of a token, which another
/// one may have later.
pub(super) type Owner = Option<Hash>;

/// A stock and who has what of it.
#[derive(Debug)]
pub(super) struct Shares {
    /// What each owner has for itself.
    reserved: usize,
    /// What is there beyond that.
    common: usize,
    taken: Mutex<BTreeMap<Owner, usize>>,
}

/// What somebody has taken, given back when this is dropped.
#[derive(Debug)]
pub(super) struct Share {
    shares: Arc<Shares>,
    owner: Owner,
    amount: usize,
}

impl Shares {
    /// `total` of something, of which each owner has `reserved` for itself. Where no tokens are asked
    /// for there is one owner, who may have all.
    pub(super) fn new(total: usize, reserved: usize, asks_for_tokens: bool) -> Arc<Shares> {
        let owners = if asks_for_tokens { TOKENS_LIMIT } else { 1 };
        Arc::new(Shares {
            reserved,
            common: total.saturating_sub(reserved * owners),
            taken: Mutex::default(),
        })
    }

    fn taken(&self) -> MutexGuard<'_, BTreeMap<Owner, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes some; `None`: this owner cannot have so much now.
    pub(super) fn take(self: &Arc<Shares>, owner: Owner, amount: usize) -> Option<Share> {
        let mut share = Share {
            shares: Arc::clone(self),
            owner,
            amount: 0,
        };
        share.more(amount).then_some(share)
    }

    fn add(&self, owner: Owner, amount: usize) -> bool {
        let mut taken = self.taken();
        let has = taken.get(&owner).copied().unwrap_or_default();
        let wants = has.saturating_add(amount);
        let others = taken.iter().filter(|(other, _)| **other != owner);
        let others: usize = others
            .map(|(_, has)| has.saturating_sub(self.reserved))
            .sum();
        let beyond = wants.saturating_sub(self.reserved);
        let is_there = others.saturating_add(beyond) <= self.common;
        if is_there && amount > 0 {
            taken.insert(owner, wants);
        }
        is_there
    }

    fn give_back(&self, owner: Owner, amount: usize) {
        let mut taken = self.taken();
        let left = taken.get(&owner).copied().unwrap_or_default();
        match left.saturating_sub(amount) {
            0 => drop(taken.remove(&owner)),
            left => drop(taken.insert(owner, left)),
        }
    }

    /// What all owners have taken together.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.taken().values().sum()
    }
}

impl Share {
    /// Takes more of the same; false: there is not so much now, and nothing is taken.
    pub(super) fn more(&mut self, amount: usize) -> bool {
        let is_there = self.shares.add(self.owner, amount);
        if is_there {
            self.amount += amount;
        }
        is_there
    }

    pub(super) fn amount(&self) -> usize {
        self.amount
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shares.give_back(self.owner, self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Tokens;

    fn owners() -> Vec<Owner> {
        let folder = tempfile::tempdir().unwrap();
        let tokens = Tokens::new(folder.path().join("tokens.json"));
        for number in 0..TOKENS_LIMIT {
            tokens.create(&number.to_string(), false).unwrap();
        }
        tokens.hashes().into_iter().map(Some).collect()
    }

    #[test]
    fn who_takes_all_that_there_is_leaves_the_others_what_is_theirs() {
        let shares = Shares::new(100, 5, true);
        let all = |owner| {
            let taken = std::iter::from_fn(|| shares.take(owner, 1));
            taken.collect::<Vec<Share>>()
        };
        let owners = owners();
        let greedy = all(owners[0]);
        assert_eq!(greedy.len(), 100 - 9 * 5);
        let others: Vec<_> = owners[1..].iter().map(|owner| all(*owner)).collect();
        assert!(others.iter().all(|taken| taken.len() == 5));
        assert_eq!(shares.in_use(), 100);
        drop(others);
        drop(greedy);
        assert_eq!(shares.in_use(), 0);
    }

    #[test]
    fn a_single_owner_may_have_all() {
        let shares = Shares::new(100, 5, false);
        let mut share = shares.take(None, 60).unwrap();
        assert!(!share.more(41) && share.more(40));
        assert_eq!((share.amount(), shares.in_use()), (100, 100));
        assert!(shares.take(None, 1).is_none());
        drop(share);
        assert!(shares.take(None, 100).is_some());
    }
}
