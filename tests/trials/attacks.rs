//! One token attacks the server over HTTP at full speed, another one searches: every search is answered,
//! and the server's memory stays within its budget. How much slower the searches are is printed.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::begin;
use crate::mcp::client::{Client, MODERN};
use crate::mcp::http::authorization::token;
use crate::mcp::http::{Connection, HttpServer, headers_of};
use crate::support::{Folder, Random, number_from, wait_until};

/// Most memory of the server, that of its files included.
const MEMORY_LIMIT_MIB: u64 = 256;

/// Searches of the victim beside each attack.
const SEARCHES: u64 = 12;

/// What an attack knows.
struct Attack<'a> {
    server: &'a HttpServer,
    token: String,
    /// The victim has its answers.
    is_over: &'a AtomicBool,
    /// What was done so far.
    rounds: &'a AtomicU64,
    dice: Random,
}

impl Attack<'_> {
    fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    fn count(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// Sends one body in a request of its own; whatever comes back is fine.
    fn post(&self, message: &Value, body: &[u8]) -> Option<u16> {
        let bearer = self.bearer();
        let headers = headers_of(MODERN, message);
        let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
        let headers: Vec<(&str, &str)> = headers
            .chain([("Authorization", bearer.as_str())])
            .collect();
        let mut connection = Connection::open(self.server.address);
        connection.send("POST", "/mcp", &headers, body);
        Some(connection.reply()?.status)
    }

    /// The same message again and again.
    fn repeat(&self, message: &Value) {
        let body = message.to_string();
        while self.goes_on() {
            self.post(message, body.as_bytes());
            self.count();
        }
    }

    /// Connections that begin like this and are then held, as many as there can be.
    fn hold(&self, first: impl Fn(&mut Connection)) {
        let mut held = Vec::new();
        while self.goes_on() {
            let mut connection = Connection::open(self.server.address);
            first(&mut connection);
            held.push(connection);
            self.count();
            if held.len() as u64 >= 2 * HELD {
                held.remove(0);
            }
        }
    }
}

fn call(name: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments, "_meta": Client::meta()}})
}

/// A call whose argument `junk` is this JSON, longer than a program would write it.
fn call_with(junk: &str) -> (Value, Vec<u8>) {
    let message = call("search", json!({"query": "lamp", "junk": "HERE"}));
    let body = message.to_string().replace("\"HERE\"", junk);
    (message, body.into_bytes())
}

fn initialize(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"}}})
}

fn many_values(attack: &Attack<'_>) {
    for_each_junk(attack, &[format!("[{}0]", "{\"a\":0},".repeat(2_800_000))]);
}

fn deep_brackets(attack: &Attack<'_>) {
    for_each_junk(attack, &["[".repeat(4 << 20), "{\"a\":".repeat(1 << 20)]);
}

fn long_texts(attack: &Attack<'_>) {
    for_each_junk(attack, &[format!("\"{}\"", "\\u0041".repeat(3 << 20))]);
}

fn for_each_junk(attack: &Attack<'_>, junk: &[String]) {
    let bodies: Vec<_> = junk.iter().map(|junk| call_with(junk)).collect();
    while attack.goes_on() {
        for (message, body) in &bodies {
            attack.post(message, body);
            attack.count();
        }
    }
}

fn long_names(attack: &Attack<'_>) {
    attack.repeat(&call(
        "get_document",
        json!({"doc_handle": "a".repeat(4 << 20)}),
    ));
}

fn many_languages(attack: &Attack<'_>) {
    let languages: Vec<String> = (0..200_000).map(|n| format!("l{n}")).collect();
    attack.repeat(&call(
        "search_code",
        json!({"query": "lamp", "language": languages.join(",")}),
    ));
}

fn costly_searches(attack: &Attack<'_>) {
    attack.repeat(&call(
        "search",
        json!({"query": "+tide -harbour lamp \"the sea\" ".repeat(200)}),
    ));
}

fn sessions(attack: &Attack<'_>) {
    attack.repeat(&initialize("attacker"));
}

fn long_client_names(attack: &Attack<'_>) {
    attack.repeat(&initialize(&"n".repeat(20 << 20)));
}

fn stalled_bodies(attack: &Attack<'_>) {
    let bearer = attack.bearer();
    attack.hold(|connection| {
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("Authorization", bearer.as_str()),
            ("Content-Length", "900000"),
        ];
        connection.send("POST", "/mcp", &headers, b"{\"jsonrpc\":");
    });
}

fn streams(attack: &Attack<'_>) {
    listen(attack, json!({"resourcesListChanged": true}));
}

fn missing_addresses(attack: &Attack<'_>) {
    let addresses: Vec<String> = (0..1000)
        .map(|n| format!("kb://harbour/doc/gone-{n}.md"))
        .collect();
    listen(attack, json!({"resourceSubscriptions": addresses}));
}

fn listen(attack: &Attack<'_>, notifications: Value) {
    let bearer = attack.bearer();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": {"notifications": notifications, "_meta": Client::meta()}});
    let body = message.to_string();
    let headers = headers_of(MODERN, &message);
    attack.hold(|connection| {
        let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
        let headers: Vec<_> = headers
            .chain([("Authorization", bearer.as_str())])
            .collect();
        connection.send("POST", "/mcp", &headers, body.as_bytes());
    });
}

/// Reads a long document.
fn read_long() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": {"uri": "kb://harbour/doc/long.txt", "_meta": Client::meta()}})
}

fn long_reads(attack: &Attack<'_>) {
    attack.repeat(&read_long());
}

/// Several requests one after the other on each connection, whose answers nobody reads.
fn unread_answers(attack: &Attack<'_>) {
    let bearer = attack.bearer();
    let message = read_long();
    let body = message.to_string();
    let headers = headers_of(MODERN, &message);
    attack.hold(|connection| {
        for _ in 0..6 {
            let headers = headers.iter().map(|(key, value)| (*key, value.as_str()));
            let headers: Vec<_> = headers
                .chain([("Authorization", bearer.as_str())])
                .collect();
            connection.send("POST", "/mcp", &headers, body.as_bytes());
        }
    });
}

fn silent_connections(attack: &Attack<'_>) {
    attack.hold(|_| ());
}

fn wrong_tokens(attack: &Attack<'_>) {
    let message = call("search", json!({"query": "lamp"}));
    let body = message.to_string();
    let mut stranger = Attack {
        token: String::new(),
        dice: Random(attack.dice.0),
        ..*attack
    };
    while attack.goes_on() {
        stranger.token = format!("kb_{:032x}", stranger.dice.below(usize::MAX));
        stranger.post(&message, body.as_bytes());
        attack.count();
    }
}

/// Connections that are held before the victim begins: more than there are places.
const HELD: u64 = 300;

/// What an attack does until it is over.
type Act = fn(&Attack<'_>);

/// Attacks by name, and the rounds after which the victim begins.
const ATTACKS: [(&str, u64, Act); 16] = [
    ("long reads", 10, long_reads),
    ("unread answers", HELD, unread_answers),
    ("many values", 2, many_values),
    ("deep brackets", 2, deep_brackets),
    ("long texts", 2, long_texts),
    ("long names", 2, long_names),
    ("many languages", 2, many_languages),
    ("costly searches", 10, costly_searches),
    ("sessions", HELD, sessions),
    ("long client names", 2, long_client_names),
    ("stalled bodies", HELD, stalled_bodies),
    ("streams", HELD, streams),
    ("missing addresses", HELD, missing_addresses),
    ("silent connections", HELD, silent_connections),
    ("wrong tokens", HELD, wrong_tokens),
    ("values and streams", HELD, |attack| {
        thread::scope(|scope| {
            scope.spawn(|| many_values(attack));
            streams(attack);
        });
    }),
];

/// Searches as often, one after the other over a kept connection; how long each took, or what went wrong
/// first.
fn searches(server: &HttpServer, token: &str, count: u64) -> Result<Vec<Duration>, String> {
    let bearer = format!("Bearer {token}");
    let message = call("search", json!({"query": "lamp", "limit": 3}));
    let mut connection: Option<Connection> = None;
    let mut times = Vec::new();
    for n in 0..count {
        let start = Instant::now();
        // A host takes a new connection where a kept one was closed between two requests.
        let kept = connection.as_mut();
        let kept = kept.and_then(|kept| kept.post(MODERN, &[("Authorization", &bearer)], &message));
        let reply = kept.or_else(|| {
            let mut fresh = Connection::open(server.address);
            let reply = fresh.post(MODERN, &[("Authorization", &bearer)], &message);
            connection = Some(fresh);
            reply
        });
        let reply = reply.ok_or_else(|| format!("search {n} has no answer"))?;
        let answer = match reply.status {
            200 => reply.messages().pop().unwrap_or_default(),
            status => return Err(format!("search {n} has status {status}: {reply:?}")),
        };
        let result = &answer["result"];
        if result["isError"] == true || !result.to_string().contains("polish the lens") {
            return Err(format!("search {n}: {answer}"));
        }
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times)
}

/// The most memory that the server ever had, in MiB.
fn peak_mib(server: &HttpServer) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) >> 10
}

#[test]
fn no_attack_stops_the_searches_of_others_or_takes_the_memory() {
    let rounds = number_from("KB_TRIAL_ROUNDS", 1);
    let folder = Folder::with_corpus();
    // A character of two bytes that takes six in an answer.
    let line = format!("{} is a long line\n", "\u{85}".repeat(40));
    folder.write("harbour/long.txt", line.repeat(7500));
    folder.kb("index harbour").expect(0);
    let attacker = token(&folder, "attacker", &[]);
    let victim = token(&folder, "victim", &[]);
    let mut failures = Vec::new();
    for (number, (name, begun, run)) in (1..).zip(ATTACKS) {
        let dice = begin("attacks", number);
        let server = HttpServer::start(&folder, &["harbour.kb", "--tokens", "tokens.json"]);
        let quiet = searches(&server, &victim, SEARCHES * rounds).expect("it is quiet");
        let (is_over, done) = (AtomicBool::new(false), AtomicU64::new(0));
        let attack = Attack {
            server: &server,
            token: attacker.clone(),
            is_over: &is_over,
            rounds: &done,
            dice,
        };
        struct Over<'a>(&'a AtomicBool);
        impl Drop for Over<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let attacked = thread::scope(|scope| {
            // Also where something panics, so that the attack ends.
            let _over = Over(&is_over);
            scope.spawn(|| run(&attack));
            wait_until("the attack begins", || {
                done.load(Ordering::Relaxed) >= begun
            });
            searches(&server, &victim, SEARCHES * rounds)
        });
        let after = searches(&server, &victim, 1);
        let middle = |times: &[Duration]| times.get(times.len() / 2).copied().unwrap_or_default();
        let peak_mib = peak_mib(&server);
        let done = done.load(Ordering::Relaxed);
        match (&attacked, &after) {
            (Ok(attacked), Ok(after)) => println!(
                "attacks: {name}: {done} rounds; a search takes {:?} quiet, {:?} attacked ({:.1}x), {:?} after; \
                 {peak_mib} MiB at most",
                middle(&quiet),
                middle(attacked),
                middle(attacked).as_secs_f64() / middle(&quiet).as_secs_f64(),
                middle(after),
            ),
            (Err(failure), _) => failures.push(format!("{name}: {failure}")),
            (_, Err(failure)) => failures.push(format!("{name}, afterwards: {failure}")),
        }
        if peak_mib > MEMORY_LIMIT_MIB {
            failures.push(format!("{name}: {peak_mib} MiB"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
