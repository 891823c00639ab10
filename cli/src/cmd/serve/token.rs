//! `kb token`: creates, lists and revokes the tokens of HTTP clients.

use kb_json::Object;
use kb_mcp::tokens::{TokenError, TokenInfo, Tokens, default_path};

use crate::args::{TokenAction, TokenArguments};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::output::format::{shell_word, time};

pub(crate) fn run(arguments: &TokenArguments, output: &mut Output) -> Result<Exit, Failure> {
    let path = arguments.tokens.clone().or_else(default_path);
    let path = path.ok_or_else(|| {
        let hint = Some("name the token file with --tokens FILE".to_owned());
        Failure::usage(
            "there is no default token file: XDG_CONFIG_HOME and HOME are not set",
            hint,
        )
    })?;
    let tokens = Tokens::new(path);
    match &arguments.action {
        TokenAction::Create { name, write } => {
            let token = tokens.create(name, *write).map_err(failed)?;
            if arguments.json {
                let object = Object::new()
                    .field("name", &**name)
                    .field("scope", scope(*write))
                    .field("token", token);
                output.json(object)?;
            } else {
                output.line(&token)?;
                output.flush()?;
                output.note("this token is not shown again; clients send it as `Authorization: Bearer TOKEN`");
            }
            Ok(Exit::Found)
        }
        TokenAction::List => {
            let all = tokens.list().map_err(failed)?;
            for token in &all {
                show(token, arguments.json, output)?;
            }
            if all.is_empty() {
                output.note("no tokens");
                return Ok(Exit::Nothing);
            }
            Ok(Exit::Found)
        }
        TokenAction::Revoke { name } => {
            tokens.revoke(name).map_err(failed)?;
            if arguments.json {
                output.json(Object::new().field("revoked", &**name))?;
            } else {
                output.note(&format!("{} is revoked", shell_word(name)));
            }
            Ok(Exit::Found)
        }
    }
}

fn scope(may_write: bool) -> &'static str {
    if may_write { "write" } else { "read" }
}

fn show(token: &TokenInfo, json: bool, output: &mut Output) -> Result<(), Failure> {
    if json {
        let object = Object::new()
            .field("name", &*token.name)
            .field("scope", scope(token.may_write))
            .field("created_ms", token.created_ms)
            .field("last_used_ms", token.last_used_ms);
        return output.json(object);
    }
    let used = match token.last_used_ms {
        Some(used) => format!("used {}", time(used)),
        None => "never used".to_owned(),
    };
    let line = format!(
        "{}  {}, created {}, {used}",
        output.name(&token.name),
        scope(token.may_write),
        time(token.created_ms)
    );
    output.line(&line)
}

pub(crate) fn failed(error: TokenError) -> Failure {
    let code = match &error {
        TokenError::Io { .. } | TokenError::Unreadable(_) => "IO",
        _ => "USAGE",
    };
    Failure::new(code, error.to_string(), error.hint())
}
