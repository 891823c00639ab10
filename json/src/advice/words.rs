//! What each front calls the things that advice names. A line `name = text` is a word; its text may hold facts of the
//! error and other words, in `<>`. A line `! CODE = reason` says why a front has no advice on a code.

/// Words of every front that has none of its own.
pub(super) const COMMON: &str = r"
again = call again
create_new = <create>
first_folder = <first_name>
first_name = did you mean <either>?
first_section = <first_name>
first_sheet = did you mean <first>?
more_bytes = <lines>
reindex = index its sources again
remount = work on a copy elsewhere, or mount the file system for writing
reopen = open the file again
reopen_in_child = open the file in the child process
reopen_writer = close this writer and open the file again
replace_output = <replace>
unread = <first_name>
wait = wait for it, or stop it
whole_path = <first>
without_cursor = search again without cursor
without_sheet = leave the name of the sheet out
! PATH_NOT_ALLOWED = whoever started the program chose the folders
! EXTRACTION_LIMIT = the message says what there is too much of
! EXTRACTION_FAILED = the file or its reader is at fault
! CANCELLED = the caller asked for it
";

pub(super) const COMMAND_LINE: &str = r"
again = run the command again
cells = `<command> <path> --range A1:D10` is a range
columns = `kb vectors <file>`
create = `kb index FOLDER -o <file>` makes it
create_new = `kb index PATH -o FILE.kb` makes one
documents = `kb ls -f <file>` lists what is there
embed_again = `kb index FOLDER -o <file>` reads its folder again, `kb seal <file>` embeds the text that it holds
first_folder = `--folder <first>`; the nearest: <several>
first_name = `<command> <first>`; the nearest: <several>
first_section = <sections> lists the sections; the nearest: <names>
first_sheet = `<command> <path> --sheet <first>`
folders = <documents>
index_anew = `kb index FOLDER -o <file>` rebuilds an older one
keyword_mode = `--mode keyword`
lines = `<command> <path> --lines <range>`
literal = `-F`
multi_line = `-U`
pages = `<command> <path> --pages <range>`
paths = `kb ls -r -f <file>` lists the paths of all documents
program = `kb`
prune = --prune
read_page = `kb pages -f <file> <path>`
read_sheet = `kb sheet -f <file> <path>`
read_slide = `kb slides -f <file> <path>`
read_text = `kb get -f <file> <path>`
rebuild = `kb index --rebuild`
reindex = remove it, if it is a .kb, and index its sources again: `kb index FOLDER -o <file>`
reopen = see what happened to it, then run the command again
reopen_in_child = <again>
reopen_writer = <again>
root = `--root NAME`
seal = `kb seal <file>`
seal_as_i4 = `kb seal <file> --vectors i4`
sections = `kb outline -f <file> <path>`
slides = `<command> <path> --slides <range>`
types = `kb info <file>`
unread = `kb ls --skipped -f <file>` lists all files that were not read
whole_path = `<command> <first>`
without_cursor = run the command without --continue
without_sheet = run the command without --sheet
worker = is this program still where it was started from?; start it again
! OUTPUT_EXISTS = commands with --force name it themselves
! DOCUMENT_EXISTS = `kb add` names --replace itself
";

/// The readers are models. They see neither the disk nor the flags of the server.
pub(super) const MCP: &str = r"
cells = write it as A1:D10, A:D or 3:10
documents = list_documents and search name the documents there are
embed_again = whoever runs the server can index its folder again
folders = list_folders names the folders there are
index_anew = whoever runs the server can index its folders again, which rebuilds an older one in place
keyword_mode = search with mode=keyword
lines = give lines from 1 to <last>, the smaller number first
literal = literal=true
more_bytes = give the name as the answer before stated it, or leave out the bytes
multi_line = multiline=true
no_cells = omit cell_range
pages = give pages from 1 to <last>, as 1-3,5 or 3-
permit = the server needs permission to write the file and its folder
program = server
read_page = get_pages
read_sheet = get_sheet_data
read_slide = get_slides
read_text = get_document_data
remount = whoever runs the server can mount the file system for writing, or serve a copy elsewhere
reopen = call again to change what is there now
reopen_in_child = <again>
reopen_writer = <again>
sections = get_document_outline
slides = give slides from 1 to <last>, as 1-3,5 or 3-
unread = list_documents with skipped=true lists all files that were not read
wait = try again when it is done
whole_path = <names>
without_cursor = call again without it
without_sheet = omit sheet_name parameter
worker = whoever runs the server can start it again
! PATH_NOT_FOUND = a path of the server; only who runs it can look there
! NOT_A_KB = only who runs the server can name another file
! NOT_REPLACEABLE = only who runs the server can remove the file
! OUTPUT_EXISTS = only who runs the server can remove the file
! INVALID_ARGUMENT = the message says what is allowed
! DOCUMENT_EXISTS = the tools replace documents
! FILE_TOO_LARGE = the message says the limit
";

pub(super) const PYTHON: &str = r#"
create = kbfile.open(path, "w") makes a .kb
documents = Kb.documents() lists what is there
embed_again = index its folders again to use the model of this version
index_anew = kbfile.open(path, "a").index(folder) rebuilds an older one in place
keyword_mode = mode="keyword"
literal = literal=True
multi_line = multi_line=True
program = kbfile
prune = prune=True
replace = replace=True
sections = Document.outline
wait = wait for it (lock_timeout=60), or stop it
worker = kbfile.open(path, mode, extraction="in-process") reads files that are trusted
! INVALID_ARGUMENT = the message says what is allowed
! UNSUPPORTED_DOCUMENT_TYPE = the message says what it has
! INVALID_RANGE = the message says which there are
! FILE_TOO_LARGE = the message says the limit
"#;

pub(super) const C: &str = r#"
create = kb_writer_open with KB_WRITER_MODE_CREATE makes a .kb
documents = kb_list_documents lists what is there
embed_again = kb_features tells whether this build has a model
index_anew = kb_writer_index rebuilds an older one in place
keyword_mode = KB_MODE_KEYWORD
literal = "literal"
multi_line = "multiline"
program = libkb
prune = the option prune
replace = the option replace
replace_output = the option replace, or KB_WRITER_MODE_CREATE,
sections = kb_get_outline
wait = wait for it with lock_timeout_ms, or stop it
worker = name a kb program by worker, or set in_process for files that are trusted
! INVALID_ARGUMENT = the message says what is allowed
! UNSUPPORTED_DOCUMENT_TYPE = the message says what it has
! INVALID_RANGE = the message says which there are
! FILE_TOO_LARGE = the message says the limit
"#;
