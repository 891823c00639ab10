// Searches a .kb file from C# with P/Invoke: Search FILE.kb QUERY
// Mono: mcs Search.cs && LD_LIBRARY_PATH=/where/libkb/is mono Search.exe FILE.kb QUERY
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

// Bytes of UTF-8 and their number, no NUL at the end.
[StructLayout(LayoutKind.Sequential)]
struct KbStr {
    public IntPtr Ptr;
    public UIntPtr Len;

    // A copy: the bytes of a result end with it.
    public override string ToString() {
        var bytes = new byte[(int)Len];
        Marshal.Copy(Ptr, bytes, 0, bytes.Length);
        return Encoding.UTF8.GetString(bytes);
    }
}

// The first fields of kb_search_options. StructSize tells the library how many there are.
[StructLayout(LayoutKind.Sequential)]
struct KbSearchOptions {
    public UIntPtr StructSize;
    public uint K;
    public int Mode, Scope, Sort;
    public float MinScore;
    public uint ContextBefore, ContextAfter, MaxLines;
}

// The first fields of kb_hit.
[StructLayout(LayoutKind.Sequential)]
struct KbHit {
    public UIntPtr StructSize;
    public KbStr Document, Handle, Title, Section, SectionNumber, Text, Before, After;
    public float Score, FusedScore, KeywordScore, VectorScore;
    public uint FirstLine, LastLine;
}

static class Native {
    [DllImport("kb")] public static extern int kb_open(KbStr path, out KbFile file, out IntPtr err);
    [DllImport("kb")] public static extern int kb_close(ref IntPtr file, IntPtr err);
    [DllImport("kb")]
    public static extern int kb_search(KbFile file, KbStr query, ref KbSearchOptions options, out KbHits hits, out IntPtr err);
    [DllImport("kb")] public static extern UIntPtr kb_hits_len(KbHits hits);
    [DllImport("kb")] public static extern int kb_hits_get(KbHits hits, UIntPtr index, ref KbHit hit, out IntPtr err);
    [DllImport("kb")] public static extern void kb_hits_free(ref IntPtr hits);
    [DllImport("kb")] public static extern KbStr kb_error_message(IntPtr error);
    [DllImport("kb")] public static extern KbStr kb_error_hint(IntPtr error);
    [DllImport("kb")] public static extern void kb_error_free(ref IntPtr error);
}

class KbException : Exception {
    public readonly string Hint;

    KbException(string message, string hint) : base(message) { Hint = hint; }

    // Throws what a call put to its last parameter, and frees it.
    public static void Check(int status, IntPtr error) {
        if (status == 0) return;
        try {
            throw new KbException(Native.kb_error_message(error).ToString(), Native.kb_error_hint(error).ToString());
        } finally {
            Native.kb_error_free(ref error);
        }
    }
}

// A SafeHandle is not closed while a call with it runs, and once only.
class KbHits : SafeHandle {
    KbHits() : base(IntPtr.Zero, true) { }
    public override bool IsInvalid => handle == IntPtr.Zero;
    protected override bool ReleaseHandle() {
        Native.kb_hits_free(ref handle);
        return true;
    }
}

class Hit {
    public string Document, Text;
    public uint FirstLine, LastLine;
    public float Score;
}

// An open file. Any number of threads may use one.
class KbFile : SafeHandle {
    KbFile() : base(IntPtr.Zero, true) { }
    public override bool IsInvalid => handle == IntPtr.Zero;
    protected override bool ReleaseHandle() => Native.kb_close(ref handle, IntPtr.Zero) == 0;

    public static KbFile Open(string path) {
        KbFile file = null;
        WithText(path, text => KbException.Check(Native.kb_open(text, out file, out var error), error));
        return file;
    }

    // The k best hits, with the best lines of each.
    public List<Hit> Search(string query, uint k, uint maxLines) {
        var options = new KbSearchOptions {
            StructSize = (UIntPtr)Marshal.SizeOf<KbSearchOptions>(), K = k, MaxLines = maxLines,
        };
        KbHits hits = null;
        WithText(query, text => KbException.Check(Native.kb_search(this, text, ref options, out hits, out var error), error));
        using (hits) {
            var found = new List<Hit>();
            for (ulong i = 0; i < (ulong)Native.kb_hits_len(hits); i++) {
                var hit = new KbHit { StructSize = (UIntPtr)Marshal.SizeOf<KbHit>() };
                KbException.Check(Native.kb_hits_get(hits, (UIntPtr)i, ref hit, out var error), error);
                found.Add(new Hit {
                    Document = hit.Document.ToString(), Text = hit.Text.ToString(),
                    FirstLine = hit.FirstLine, LastLine = hit.LastLine, Score = hit.Score,
                });
            }
            return found;
        }
    }

    // The bytes of an argument stay where they are until the call has returned.
    static void WithText(string text, Action<KbStr> call) {
        var bytes = Encoding.UTF8.GetBytes(text);
        var pinned = GCHandle.Alloc(bytes, GCHandleType.Pinned);
        try {
            call(new KbStr { Ptr = pinned.AddrOfPinnedObject(), Len = (UIntPtr)bytes.Length });
        } finally {
            pinned.Free();
        }
    }
}

static class Program {
    static int Main(string[] args) {
        if (args.Length != 2) {
            Console.Error.WriteLine("usage: Search FILE.kb QUERY");
            return 2;
        }
        // UTF-8 without a byte order mark, whatever the locale is.
        var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };
        using (output)
        try {
            using (var file = KbFile.Open(args[0])) {
                var hits = file.Search(args[1], k: 5, maxLines: 4);
                foreach (var hit in hits) {
                    var score = hit.Score.ToString("F2", CultureInfo.InvariantCulture);
                    output.WriteLine($"{hit.Document}:{hit.FirstLine}-{hit.LastLine}  {score}");
                    output.WriteLine(hit.Text);
                }
                return hits.Count > 0 ? 0 : 1;
            }
        } catch (KbException error) {
            Console.Error.WriteLine($"error: {error.Message}");
            if (error.Hint != "") Console.Error.WriteLine($"hint: {error.Hint}");
            return 2;
        }
    }
}
