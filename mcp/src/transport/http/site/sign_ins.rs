//! Browsers that are signed in. A browser cannot send a token with each page, so it gets a cookie for one.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use hyper::header::COOKIE;

use crate::tokens::{Hash, random_secret};

/// How the names of the cookies begin; the port follows. Browsers send the cookies of all ports of a host to each of
/// them, and keep one of a name.
const COOKIE_PREFIX: &str = "kb_session_";

/// How long a browser that asks for nothing stays signed in.
const IDLE_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Most browsers of one token, or of links. For one more, that which asked for nothing the longest is signed out.
const SESSIONS: usize = 32;

/// Who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::transport::http) enum Visitor {
    /// A browser that signed in with the token of that hash.
    Token(Hash),
    /// The browser of the person who started the server, which came by the link that the server printed. It may read.
    Link,
}

struct Session {
    visitor: Visitor,
    used: Instant,
}

/// The sessions of browsers, by the hashes of their cookies, and the link of the start.
pub(in crate::transport::http) struct SignIns {
    sessions: Mutex<BTreeMap<Hash, Session>>,
    /// The hash of the key in the link, until the link is used.
    link: Mutex<Option<Hash>>,
    cookie_name: String,
    /// Of this process; `None` without a source of random numbers.
    forms: Option<String>,
}

impl fmt::Debug for SignIns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIns").finish_non_exhaustive()
    }
}

impl SignIns {
    /// Those of the server at that port.
    pub(in crate::transport::http) fn new(port: u16) -> SignIns {
        SignIns {
            sessions: Mutex::default(),
            link: Mutex::default(),
            cookie_name: format!("{COOKIE_PREFIX}{port}"),
            forms: random_secret().ok(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<Hash, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the key of a link that signs one browser in, once. `None` without a source of random numbers.
    pub(in crate::transport::http) fn make_link(&self) -> Option<String> {
        let key = random_secret().ok()?;
        *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(Hash::of(&key));
        Some(key)
    }

    /// Uses up the link. `None` if this is not its key.
    pub(in crate::transport::http) fn follow_link(&self, key: &str) -> Option<Visitor> {
        let mut link = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.take_if(|hash| hash.is_same(Hash::of(key)))
            .map(|_| Visitor::Link)
    }

    /// Signs a browser in. Returns its cookie, without attributes.
    pub(in crate::transport::http) fn begin(&self, visitor: Visitor) -> Option<String> {
        let secret = random_secret().ok()?;
        let used = Instant::now();
        let mut sessions = self.sessions();
        sessions.retain(|_, session| session.used.elapsed() < IDLE_LIMIT);
        let same = sessions
            .iter()
            .filter(|(_, session)| session.visitor == visitor);
        if same.clone().count() >= SESSIONS {
            let oldest = same.min_by_key(|(_, session)| session.used);
            if let Some(oldest) = oldest.map(|(hash, _)| *hash) {
                sessions.remove(&oldest);
            }
        }
        sessions.insert(Hash::of(&secret), Session { visitor, used });
        Some(format!("{}={secret}", self.cookie_name))
    }

    /// Who is signed in with one of the cookies of a request.
    pub(in crate::transport::http) fn visitor(&self, headers: &HeaderMap) -> Option<Visitor> {
        let mut sessions = self.sessions();
        self.secrets(headers).find_map(|secret| {
            let hash = Hash::of(secret);
            let session = sessions.get_mut(&hash)?;
            if session.used.elapsed() >= IDLE_LIMIT {
                sessions.remove(&hash);
                return None;
            }
            session.used = Instant::now();
            Some(session.visitor.clone())
        })
    }

    /// A secret for the forms of one browser: that of another session is another one.
    pub(in crate::transport::http) fn form_key(&self, headers: &HeaderMap) -> Option<String> {
        let forms = self.forms.as_deref()?;
        let session = self.secrets(headers).next().unwrap_or_default();
        Some(Hash::of(&format!("{forms} {session}")).hex())
    }

    /// Ends the session of a request.
    pub(in crate::transport::http) fn end(&self, headers: &HeaderMap) {
        let mut sessions = self.sessions();
        for secret in self.secrets(headers) {
            sessions.remove(&Hash::of(secret));
        }
    }

    /// The name of the cookie.
    pub(in crate::transport::http) fn cookie_name(&self) -> &str {
        &self.cookie_name
    }

    /// The values of the cookies of this server.
    fn secrets<'h>(&'h self, headers: &'h HeaderMap) -> impl Iterator<Item = &'h str> {
        let cookies = headers.get_all(COOKIE).into_iter();
        let cookies = cookies.filter_map(|header| header.to_str().ok());
        let cookies = cookies.flat_map(|header| header.split(';'));
        cookies
            .filter_map(|cookie| cookie.trim().split_once('='))
            .filter_map(|(name, value)| (name == self.cookie_name).then_some(value))
    }

    /// Signs out the browsers of a token that was revoked.
    pub(in crate::transport::http) fn end_all_of(&self, owner: Hash) {
        self.sessions()
            .retain(|_, session| session.visitor != Visitor::Token(owner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, cookie.parse().unwrap())])
    }

    fn token(name: &str) -> Visitor {
        Visitor::Token(Hash::of(name))
    }

    #[test]
    fn a_cookie_signs_in_beside_those_of_other_servers_until_its_session_ends() {
        let sign_ins = SignIns::new(80);
        let cookie = sign_ins.begin(token("a")).unwrap();
        let sent = headers(&format!("kb_session_80=other; x=1; {cookie}"));
        assert_eq!(sign_ins.visitor(&sent), Some(token("a")));
        assert_eq!(sign_ins.visitor(&headers("kb_session_80=other")), None);
        assert_eq!(sign_ins.visitor(&HeaderMap::new()), None);
        let renamed = cookie.replace("_80=", "_81=");
        assert_eq!(sign_ins.visitor(&headers(&renamed)), None);
        sign_ins.end(&sent);
        assert_eq!(sign_ins.visitor(&sent), None);
    }

    #[test]
    fn the_key_of_forms_is_that_of_one_session_and_one_server() {
        let sign_ins = SignIns::new(80);
        let [one, other] = ["kb_session_80=a", "kb_session_80=b"].map(headers);
        let key = sign_ins.form_key(&one);
        assert!(key.is_some() && key == sign_ins.form_key(&one));
        assert_ne!(key, sign_ins.form_key(&other));
        assert_ne!(key, sign_ins.form_key(&HeaderMap::new()));
        assert_ne!(key, SignIns::new(80).form_key(&one));
    }

    #[test]
    fn a_link_signs_in_once() {
        let sign_ins = SignIns::new(80);
        assert_eq!(sign_ins.follow_link(""), None);
        let key = sign_ins.make_link().unwrap();
        assert_eq!(sign_ins.follow_link("other"), None);
        assert_eq!(sign_ins.follow_link(&key), Some(Visitor::Link));
        assert_eq!(sign_ins.follow_link(&key), None);
    }

    #[test]
    fn a_revoked_token_signs_out_its_browsers_alone() {
        let sign_ins = SignIns::new(80);
        let begin = |name| headers(&sign_ins.begin(token(name)).unwrap());
        let (revoked, kept) = (begin("a"), begin("b"));
        sign_ins.end_all_of(Hash::of("a"));
        assert_eq!(sign_ins.visitor(&revoked), None);
        assert!(sign_ins.visitor(&kept).is_some());
    }

    #[test]
    fn the_sessions_of_one_token_are_bounded_and_leave_those_of_others() {
        let sign_ins = SignIns::new(80);
        let other = headers(&sign_ins.begin(Visitor::Link).unwrap());
        let first = headers(&sign_ins.begin(token("a")).unwrap());
        for _ in 0..SESSIONS {
            sign_ins.begin(token("a")).unwrap();
        }
        assert_eq!(sign_ins.sessions().len(), SESSIONS + 1);
        assert_eq!(sign_ins.visitor(&first), None);
        assert!(sign_ins.visitor(&other).is_some());
    }
}
