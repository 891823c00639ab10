# Homebrew formula. `cargo xtask dist manifests` fills in what stands in braces.
class Kb < Formula
  desc "Knowledge base in one file, searched by words and by meaning"
  homepage "{repository}"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "{repository}/releases/download/v{version}/kb-{version}-aarch64-apple-darwin.tar.gz"
      sha256 "{sha256 aarch64-apple-darwin}"
    end
    on_intel do
      url "{repository}/releases/download/v{version}/kb-{version}-x86_64-apple-darwin.tar.gz"
      sha256 "{sha256 x86_64-apple-darwin}"
    end
  end

  on_linux do
    on_arm do
      url "{repository}/releases/download/v{version}/kb-{version}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "{sha256 aarch64-unknown-linux-musl}"
    end
    on_intel do
      url "{repository}/releases/download/v{version}/kb-{version}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "{sha256 x86_64-unknown-linux-musl}"
    end
  end

  def install
    bin.install "kb"
    bash_completion.install "completions/kb.bash" => "kb"
    zsh_completion.install "completions/_kb"
    fish_completion.install "completions/kb.fish"
    man1.install Dir["man/*.1"]
    doc.install "README.md", "CHANGELOG.md", "MODEL.md", "THIRD-PARTY.txt"
  end

  test do
    (testpath/"notes/tides.md").write "# Tides\n\nThe moon pulls at the sea.\n"
    system bin/"kb", "index", "notes", "-o", "notes.kb", "-q"
    assert_match "tides.md", shell_output("#{bin}/kb search -f notes.kb moon")
  end
end
