//! The style sheet and the script. Their addresses have a hash of their content, so that browsers keep them for good.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue};

use crate::answer::{Answer, Problem, answer};

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/site.js");
const ICON: &str = include_str!("assets/icon.svg");

/// One file.
struct Asset {
    name: String,
    media_type: &'static str,
    content: &'static str,
}

impl Asset {
    fn new(stem: &str, ending: &str, media_type: &'static str, content: &'static str) -> Asset {
        let hash = blake3::hash(content.as_bytes()).to_hex();
        let hash: String = hash.chars().take(12).collect();
        Asset {
            name: format!("{stem}-{hash}.{ending}"),
            media_type,
            content,
        }
    }
}

static STYLE_ASSET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", "text/css; charset=utf-8", STYLE));
static SCRIPT_ASSET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("site", "js", "text/javascript; charset=utf-8", SCRIPT));
static ICON_ASSET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", ICON));

/// Names of style sheet, script and icon, below `assets/`.
pub(crate) fn names() -> [&'static str; 3] {
    [&STYLE_ASSET.name, &SCRIPT_ASSET.name, &ICON_ASSET.name]
}

/// The style sheet, for a page that has it in itself.
pub(crate) fn style() -> &'static str {
    STYLE
}

/// The file of that name.
pub(crate) fn asset(name: &str) -> Result<Answer, Problem> {
    let all = [&*STYLE_ASSET, &*SCRIPT_ASSET, &*ICON_ASSET];
    let found = all.into_iter().find(|asset| asset.name == name);
    let found = found.ok_or_else(|| Problem::not_found("there is no such file"))?;
    let mut response = answer(StatusCode::OK, found.media_type, found.content);
    response.headers_mut().insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_found_by_their_names_alone() {
        for name in names() {
            assert_eq!(asset(name).unwrap().status(), StatusCode::OK, "{name}");
        }
        assert!(asset("style.css").is_err() && asset("").is_err());
    }

    #[test]
    fn nothing_is_loaded_from_another_host() {
        for content in [STYLE, SCRIPT] {
            assert!(!content.contains("http://") && !content.contains("https://"));
            assert!(!content.contains("@import"));
        }
    }
}
