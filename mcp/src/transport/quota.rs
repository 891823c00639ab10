//! Divides a bounded resource, such as connections or bytes, among the tokens.
//!
//! Every owner has a reserved amount that nobody else can take. What is beyond the reservations is
//! shared: one owner may take all of it, and the others still have theirs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::tokens::{Hash, TOKENS_LIMIT};

/// Who is charged: a token, or `None` where the server requires none. The hash, not the name, which
/// another token may have later.
pub(super) type Owner = Option<Hash>;

/// A bounded resource, and how much of it each owner has.
#[derive(Debug)]
pub(super) struct Quota {
    /// What each owner can always have.
    reserved: usize,
    /// What is left beyond the reservations of all possible owners.
    shared: usize,
    used: Mutex<BTreeMap<Owner, usize>>,
}

/// An amount of a quota, released when this is dropped.
#[derive(Debug)]
pub(super) struct QuotaPermit {
    quota: Arc<Quota>,
    owner: Owner,
    amount: usize,
}

impl Quota {
    /// A quota of `total`, of which each owner has `reserved`. Without tokens there is one owner, who
    /// may have all.
    pub(super) fn new(total: usize, reserved: usize, requires_token: bool) -> Arc<Quota> {
        let owners = if requires_token { TOKENS_LIMIT } else { 1 };
        Arc::new(Quota {
            reserved,
            shared: total.saturating_sub(reserved * owners),
            used: Mutex::default(),
        })
    }

    fn used(&self) -> MutexGuard<'_, BTreeMap<Owner, usize>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an amount; `None` if this owner cannot have so much now.
    pub(super) fn try_acquire(
        self: &Arc<Quota>,
        owner: Owner,
        amount: usize,
    ) -> Option<QuotaPermit> {
        let mut permit = QuotaPermit {
            quota: Arc::clone(self),
            owner,
            amount: 0,
        };
        permit.try_grow(amount).then_some(permit)
    }

    fn try_add(&self, owner: Owner, amount: usize) -> bool {
        let mut used = self.used();
        let before = used.get(&owner).copied().unwrap_or_default();
        let after = before.saturating_add(amount);
        let shared_by_others: usize = used
            .iter()
            .filter(|(other, _)| **other != owner)
            .map(|(_, amount)| amount.saturating_sub(self.reserved))
            .sum();
        let shared = shared_by_others.saturating_add(after.saturating_sub(self.reserved));
        let fits = shared <= self.shared;
        if fits && amount > 0 {
            used.insert(owner, after);
        }
        fits
    }

    fn release(&self, owner: Owner, amount: usize) {
        let mut used = self.used();
        let before = used.get(&owner).copied().unwrap_or_default();
        match before.saturating_sub(amount) {
            0 => drop(used.remove(&owner)),
            after => drop(used.insert(owner, after)),
        }
    }

    /// What all owners have together.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.used().values().sum()
    }
}

impl QuotaPermit {
    /// Takes more. Returns false, and takes nothing, if the owner cannot have so much now.
    pub(super) fn try_grow(&mut self, amount: usize) -> bool {
        let fits = self.quota.try_add(self.owner, amount);
        if fits {
            self.amount += amount;
        }
        fits
    }

    pub(super) fn amount(&self) -> usize {
        self.amount
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        self.quota.release(self.owner, self.amount);
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
    fn an_owner_that_takes_all_leaves_the_others_their_reservation() {
        let quota = Quota::new(100, 5, true);
        let all = |owner| {
            let used = std::iter::from_fn(|| quota.try_acquire(owner, 1));
            used.collect::<Vec<QuotaPermit>>()
        };
        let owners = owners();
        let greedy = all(owners[0]);
        assert_eq!(greedy.len(), 100 - 9 * 5);
        let others: Vec<_> = owners[1..].iter().map(|owner| all(*owner)).collect();
        assert!(others.iter().all(|used| used.len() == 5));
        assert_eq!(quota.in_use(), 100);
        drop(others);
        drop(greedy);
        assert_eq!(quota.in_use(), 0);
    }

    #[test]
    fn without_tokens_one_owner_may_have_all() {
        let quota = Quota::new(100, 5, false);
        let mut permit = quota.try_acquire(None, 60).unwrap();
        assert!(!permit.try_grow(41) && permit.try_grow(40));
        assert_eq!((permit.amount(), quota.in_use()), (100, 100));
        assert!(quota.try_acquire(None, 1).is_none());
        drop(permit);
        assert!(quota.try_acquire(None, 100).is_some());
    }
}
