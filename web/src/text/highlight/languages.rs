//! What the lexer knows of each language.

/// A kind of string.
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// Whether a backslash takes the meaning of the next character.
    pub(super) escapes: bool,
    pub(super) many_lines: bool,
}

pub(super) struct Grammar {
    /// The word of the file types, then other names, in lower case.
    pub(super) names: &'static str,
    /// What begins a comment that ends with its line.
    pub(super) lines: &'static [&'static str],
    /// Whether such a comment begins only at the start of a word.
    pub(super) spaced: bool,
    /// What begins and ends other comments.
    pub(super) block: Option<(&'static str, &'static str)>,
    /// Whether comments stand in each other.
    pub(super) nests: bool,
    /// The first that begins at a place counts.
    pub(super) quotes: &'static [Quote],
    /// Whether `'` encloses one character.
    pub(super) characters: bool,
    /// Whether there are strings such as `r#"..."#`.
    pub(super) raw_strings: bool,
    /// Keywords, with a space between.
    pub(super) words: &'static str,
    /// Those behind which a name is defined.
    pub(super) defining: &'static str,
    /// Whether keywords are in any letter case; they are then listed in lower case.
    pub(super) any_case: bool,
}

const fn quote(mark: &'static str, escapes: bool, many_lines: bool) -> Quote {
    Quote {
        open: mark,
        close: mark,
        escapes,
        many_lines,
    }
}

const DOUBLE: Quote = quote("\"", true, false);
const SINGLE: Quote = quote("'", true, false);
const BACK: Quote = quote("`", true, true);
const RAW_BACK: Quote = quote("`", false, true);
const TRIPLE: Quote = quote("\"\"\"", true, true);
const TRIPLE_SINGLE: Quote = quote("'''", true, true);

/// `//` and `/* */`, strings in double quotes, characters in single ones.
const LIKE_C: Grammar = Grammar {
    names: "",
    lines: &["//"],
    spaced: false,
    block: Some(("/*", "*/")),
    nests: false,
    quotes: &[DOUBLE],
    characters: true,
    raw_strings: false,
    words: "",
    defining: "",
    any_case: false,
};

/// `//` and `/* */`, strings in all quotes.
const LIKE_JAVASCRIPT: Grammar = Grammar {
    quotes: &[DOUBLE, SINGLE, BACK],
    characters: false,
    ..LIKE_C
};

/// `#`, strings in double and single quotes.
const LIKE_SHELL: Grammar = Grammar {
    lines: &["#"],
    block: None,
    quotes: &[DOUBLE, SINGLE],
    characters: false,
    ..LIKE_C
};

#[rustfmt::skip]
pub(super) static GRAMMARS: &[Grammar] = &[
    Grammar {
        names: "rust rs",
        nests: true,
        raw_strings: true,
        quotes: &[quote("\"", true, true)],
        words: "as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i8 i16 i32 i64 i128 if impl in isize let loop macro_rules match mod move mut pub ref return self Self static str struct super trait true type u8 u16 u32 u64 u128 union unsafe use usize where while",
        defining: "fn struct enum trait type mod union const static",
        ..LIKE_C
    },
    Grammar {
        names: "c h",
        words: "auto bool break case char const continue default do double else enum extern false float for goto if inline int long register restrict return short signed sizeof static struct switch true typedef union unsigned void volatile while NULL",
        defining: "struct enum union",
        ..LIKE_C
    },
    Grammar {
        names: "cpp c++ cc cuda objective-c objc glsl hlsl d vala",
        words: "alignas auto bool break case catch char class concept const consteval constexpr continue decltype default delete do double else enum explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public requires return short signed sizeof static static_assert static_cast struct switch template this throw true try typedef typename union unsigned using virtual void volatile while",
        defining: "class struct enum union namespace concept",
        ..LIKE_C
    },
    Grammar {
        names: "csharp c# cs",
        words: "abstract as async await base bool break byte case catch char checked class const continue decimal default delegate do double else enum event explicit extern false finally fixed float for foreach get if implicit in int interface internal is lock long namespace new null object operator out override params private protected public readonly record ref return sbyte sealed set short sizeof static string struct switch this throw true try typeof uint ulong unchecked unsafe ushort using var virtual void volatile when where while yield",
        defining: "class struct enum interface record namespace",
        ..LIKE_C
    },
    Grammar {
        names: "go golang",
        quotes: &[DOUBLE, RAW_BACK],
        words: "any bool break byte case chan complex64 complex128 const continue default defer else error fallthrough false float32 float64 for func go goto if import int int8 int16 int32 int64 interface iota map nil package range return rune select string struct switch true type uint uint8 uint16 uint32 uint64 uintptr var",
        defining: "func type package",
        ..LIKE_C
    },
    Grammar {
        names: "java groovy",
        quotes: &[TRIPLE, DOUBLE],
        words: "abstract assert boolean break byte case catch char class const continue default do double else enum extends false final finally float for goto if implements import instanceof int interface long native new null package permits private protected public record return sealed short static strictfp super switch synchronized this throw throws transient true try var void volatile while yield",
        defining: "class interface enum record",
        ..LIKE_C
    },
    Grammar {
        names: "kotlin kt kts",
        nests: true,
        quotes: &[TRIPLE, DOUBLE],
        words: "abstract actual as break by catch class companion const constructor continue crossinline data do else enum expect external false final finally for fun if import in infix init inline inner interface internal is lateinit null object open operator out override package private protected public reified return sealed super suspend tailrec this throw true try typealias val var vararg when where while",
        defining: "class interface object fun typealias",
        ..LIKE_C
    },
    Grammar {
        names: "scala",
        nests: true,
        quotes: &[TRIPLE, DOUBLE],
        words: "abstract case catch class def do else enum extends false final finally for given if implicit import lazy match new null object override package private protected return sealed super then this throw trait true try type using val var while with yield",
        defining: "class trait object def type enum",
        ..LIKE_C
    },
    Grammar {
        names: "swift",
        nests: true,
        quotes: &[TRIPLE, DOUBLE],
        characters: false,
        words: "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate final for func get guard if import in init inout internal is lazy let mutating nil open operator override private protocol public repeat return self Self set some static struct subscript super switch throw throws true try typealias var weak where while",
        defining: "class struct enum protocol func actor extension typealias",
        ..LIKE_C
    },
    Grammar {
        names: "dart",
        quotes: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        characters: false,
        words: "abstract as assert async await bool break case catch class const continue default do double dynamic else enum export extends extension factory false final finally for get if implements import in int is late library mixin new null num on operator part required return set static super switch sync this throw true try typedef var void while with yield",
        defining: "class enum mixin extension typedef",
        ..LIKE_C
    },
    Grammar {
        names: "zig",
        block: None,
        words: "align allowzero and anyframe anytype asm async await bool break callconv catch comptime const continue defer else enum errdefer error export extern false fn for if inline noalias null or orelse packed pub resume return struct suspend switch test true try type undefined union unreachable usize var void volatile while",
        defining: "fn const",
        ..LIKE_C
    },
    Grammar {
        names: "protobuf proto thrift solidity",
        quotes: &[DOUBLE, SINGLE],
        characters: false,
        words: "bool bytes contract double enum extend false fixed32 fixed64 float function import int32 int64 map mapping message oneof option optional package public repeated required reserved returns rpc service sint32 sint64 string struct syntax true uint uint32 uint64 uint256 view",
        defining: "message enum service rpc struct contract function package",
        ..LIKE_C
    },
    Grammar {
        names: "javascript js jsx mjs cjs",
        words: "async await break case catch class const continue debugger default delete do else export extends false finally for from function get if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield",
        defining: "function class",
        ..LIKE_JAVASCRIPT
    },
    Grammar {
        names: "typescript ts tsx vue svelte astro",
        words: "abstract any as async await boolean break case catch class const constructor continue declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let module namespace never new null number object of private protected public readonly return satisfies set static string super switch symbol this throw true try type typeof undefined unknown var void while with yield",
        defining: "function class interface enum type namespace",
        ..LIKE_JAVASCRIPT
    },
    Grammar {
        names: "php",
        lines: &["//", "#"],
        quotes: &[quote("\"", true, true), quote("'", true, true)],
        words: "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends false final finally fn for foreach function global if implements include include_once instanceof interface isset list match namespace new null or print private protected public readonly require require_once return self static switch this throw trait true try unset use var while xor yield",
        defining: "class interface trait enum function namespace",
        any_case: true,
        ..LIKE_JAVASCRIPT
    },
    Grammar {
        names: "css scss sass less",
        lines: &[],
        quotes: &[DOUBLE, SINGLE],
        words: "important inherit initial none auto",
        ..LIKE_JAVASCRIPT
    },
    Grammar {
        names: "json jsonc json5",
        words: "true false null",
        ..LIKE_JAVASCRIPT
    },
    Grammar {
        names: "hcl terraform tf",
        lines: &["#", "//"],
        quotes: &[DOUBLE],
        words: "data else endif false for for_each if in locals module null output provider resource terraform true variable",
        ..LIKE_JAVASCRIPT
    },
    Grammar {
        names: "python py python3 starlark cython gdscript",
        quotes: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        words: "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
        defining: "def class",
        ..LIKE_SHELL
    },
    Grammar {
        names: "ruby rb crystal",
        block: Some(("\n=begin", "\n=end")),
        quotes: &[quote("\"", true, true), quote("'", true, true)],
        words: "alias and begin break case class def defined do else elsif end ensure false for if in include loop module next nil not or private protected public raise redo require require_relative rescue retry return self super then true undef unless until when while yield",
        defining: "def class module",
        ..LIKE_SHELL
    },
    Grammar {
        names: "bash sh shell zsh fish console",
        spaced: true,
        quotes: &[quote("\"", true, true), quote("'", false, true)],
        words: "break case cd continue do done echo elif else esac eval exec exit export fi for function if in local readonly return select set shift source then trap unset until while",
        defining: "function",
        ..LIKE_SHELL
    },
    Grammar {
        names: "perl awk tcl",
        spaced: true,
        words: "and cmp die do each else elsif eq foreach for ge gt if last le local lt my ne next not or our package print proc push return shift sub unless until use while",
        defining: "sub package proc",
        ..LIKE_SHELL
    },
    Grammar {
        names: "r julia",
        words: "abstract begin break do else elseif end export FALSE false for function global if import in let local macro module mutable NA next NULL nothing quote repeat return struct TRUE true using while",
        defining: "function struct module macro",
        ..LIKE_SHELL
    },
    Grammar {
        names: "elixir ex exs",
        quotes: &[TRIPLE, DOUBLE, SINGLE],
        words: "after alias and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end false fn for if import in nil not or quote raise receive require rescue true try unless use when with",
        defining: "def defp defmacro defmodule defprotocol",
        ..LIKE_SHELL
    },
    Grammar {
        names: "powershell ps1",
        block: Some(("<#", "#>")),
        quotes: &[quote("\"", false, true), quote("'", false, true)],
        words: "begin break catch class continue do else elseif end enum exit filter finally for foreach from function if in param process return switch throw trap try until using while",
        defining: "function class enum filter",
        any_case: true,
        ..LIKE_SHELL
    },
    Grammar {
        names: "yaml yml",
        spaced: true,
        words: "true false null yes no on off",
        ..LIKE_SHELL
    },
    Grammar {
        names: "toml ini nginx",
        lines: &["#", ";"],
        spaced: true,
        quotes: &[TRIPLE, TRIPLE_SINGLE, DOUBLE, SINGLE],
        words: "true false",
        ..LIKE_SHELL
    },
    Grammar {
        names: "makefile make cmake meson just",
        spaced: true,
        words: "define else elseif endfunction endif endmacro endforeach export foreach function if ifdef ifeq ifndef ifneq include macro option override project return set unexport",
        ..LIKE_SHELL
    },
    Grammar {
        names: "dockerfile docker containerfile",
        spaced: true,
        words: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
        any_case: true,
        ..LIKE_SHELL
    },
    Grammar {
        names: "nix graphql",
        block: Some(("/*", "*/")),
        quotes: &[TRIPLE, quote("\"", true, true)],
        words: "assert else enum extend false fragment if in inherit input interface let mutation null or query rec schema subscription then true type union with",
        defining: "type interface enum input query mutation fragment",
        ..LIKE_SHELL
    },
    Grammar {
        names: "sql",
        lines: &["--"],
        quotes: &[quote("'", false, true), quote("\"", false, false), quote("`", false, false)],
        words: "add all alter and as asc begin between by case cast check column commit constraint create cross database default delete desc distinct drop else end except exists false foreign from full function group having if in index inner insert intersect into is join key left like limit not null offset on or order outer over partition primary procedure references replace returning right rollback select set table then to transaction trigger true union unique update using values view when where with",
        any_case: true,
        characters: false,
        ..LIKE_C
    },
    Grammar {
        names: "lua",
        lines: &["--"],
        block: Some(("--[[", "]]")),
        quotes: &[DOUBLE, SINGLE, Quote { open: "[[", close: "]]", escapes: false, many_lines: true }],
        characters: false,
        words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
        defining: "function",
        ..LIKE_C
    },
    Grammar {
        names: "haskell hs elm",
        lines: &["--"],
        block: Some(("{-", "-}")),
        nests: true,
        words: "as case class data default deriving do else exposing family forall foreign hiding if import in infix infixl infixr instance let module newtype of port qualified then type where",
        defining: "class data newtype type module",
        ..LIKE_C
    },
    Grammar {
        names: "ocaml fsharp f# ml",
        lines: &[],
        block: Some(("(*", "*)")),
        nests: true,
        words: "and as assert begin class constraint do done downto else end exception external false for fun function functor if in include inherit initializer lazy let match method module mutable new object of open or private rec sig struct then to true try type val virtual when while with",
        defining: "type module class",
        ..LIKE_C
    },
];
