// Searches a .kb file from Java 17 with its incubating foreign function API:
//
//     java --add-modules jdk.incubator.foreign --enable-native-access=ALL-UNNAMED Search.java LIBKB FILE.kb QUERY
//
// LIBKB is the absolute path of libkb.so. In Java 22 the API is final, in java.lang.foreign, without --add-modules:
//     ResourceScope                   Arena (also allocates)
//     CLinker.getInstance()           Linker.nativeLinker()
//     SymbolLookup.loaderLookup()     the same, after System.load
//     CLinker.C_POINTER, C_LONG ...   ValueLayout.ADDRESS, JAVA_LONG ...
//     downcallHandle(address, type, descriptor)   downcallHandle(address, descriptor)
//     MemoryAccess.getIntAtOffset(segment, n)     segment.get(ValueLayout.JAVA_INT, n)
//     address.asSegment(n, scope)                 segment.reinterpret(n)
import static jdk.incubator.foreign.CLinker.C_FLOAT;
import static jdk.incubator.foreign.CLinker.C_INT;
import static jdk.incubator.foreign.CLinker.C_LONG;
import static jdk.incubator.foreign.CLinker.C_POINTER;
import static jdk.incubator.foreign.MemoryLayout.PathElement.groupElement;

import java.io.PrintStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import jdk.incubator.foreign.CLinker;
import jdk.incubator.foreign.FunctionDescriptor;
import jdk.incubator.foreign.GroupLayout;
import jdk.incubator.foreign.MemoryAccess;
import jdk.incubator.foreign.MemoryAddress;
import jdk.incubator.foreign.MemoryLayout;
import jdk.incubator.foreign.MemorySegment;
import jdk.incubator.foreign.ResourceScope;
import jdk.incubator.foreign.SegmentAllocator;
import jdk.incubator.foreign.SymbolLookup;

public final class Search {
    /** kb_str: bytes of UTF-8 and their number, no NUL at the end. */
    static final GroupLayout STR = MemoryLayout.structLayout(C_POINTER.withName("ptr"), C_LONG.withName("len"));

    /** The first fields of kb_search_options: struct_size tells the library how many there are. */
    static final GroupLayout OPTIONS = MemoryLayout.structLayout(
            C_LONG.withName("struct_size"), C_INT.withName("k"), C_INT.withName("mode"), C_INT.withName("scope"),
            C_INT.withName("sort"), C_FLOAT.withName("min_score"), C_INT.withName("context_before"),
            C_INT.withName("context_after"), C_INT.withName("max_lines"));

    /** The first fields of kb_hit. */
    static final GroupLayout HIT = MemoryLayout.structLayout(
            C_LONG.withName("struct_size"), STR.withName("document"), STR.withName("handle"), STR.withName("title"),
            STR.withName("section"), STR.withName("section_number"), STR.withName("text"), STR.withName("before"),
            STR.withName("after"), C_FLOAT.withName("score"), C_FLOAT.withName("fused_score"),
            C_FLOAT.withName("keyword_score"), C_FLOAT.withName("vector_score"), C_INT.withName("first_line"),
            C_INT.withName("last_line"));

    static final class KbException extends Exception {
        final String hint;

        KbException(String message, String hint) {
            super(message);
            this.hint = hint;
        }
    }

    record Hit(String document, int firstLine, int lastLine, float score, String text) {}

    /** The functions of libkb that this program calls. */
    static final class Native {
        final MethodHandle open = function("kb_open", int.class, STR, C_POINTER, C_POINTER);
        final MethodHandle close = function("kb_close", int.class, C_POINTER, C_POINTER);
        final MethodHandle search = function("kb_search", int.class, C_POINTER, STR, C_POINTER, C_POINTER, C_POINTER);
        final MethodHandle hitsLen = function("kb_hits_len", long.class, C_POINTER);
        final MethodHandle hitsGet = function("kb_hits_get", int.class, C_POINTER, C_LONG, C_POINTER, C_POINTER);
        final MethodHandle hitsFree = function("kb_hits_free", void.class, C_POINTER);
        final MethodHandle errorMessage = function("kb_error_message", MemorySegment.class, C_POINTER);
        final MethodHandle errorHint = function("kb_error_hint", MemorySegment.class, C_POINTER);
        final MethodHandle errorFree = function("kb_error_free", void.class, C_POINTER);

        private static MethodHandle function(String name, Class<?> result, MemoryLayout... parameters) {
            Class<?>[] types = new Class<?>[parameters.length];
            for (int i = 0; i < types.length; i++) {
                types[i] = parameters[i] == STR ? MemorySegment.class
                        : parameters[i] == C_LONG ? long.class : MemoryAddress.class;
            }
            FunctionDescriptor descriptor = result == void.class ? FunctionDescriptor.ofVoid(parameters)
                    : FunctionDescriptor.of(
                            result == int.class ? C_INT : result == long.class ? C_LONG : STR, parameters);
            MemoryAddress address = SymbolLookup.loaderLookup().lookup(name).orElseThrow();
            return CLinker.getInstance().downcallHandle(address, MethodType.methodType(result, types), descriptor);
        }
    }

    /** An open file. Any number of threads may use one; close it after the last call. */
    static final class Kb implements AutoCloseable {
        private final Native lib = new Native();
        private final ResourceScope scope = ResourceScope.newSharedScope();
        /** A kb*: kb_close sets it to NULL. */
        private final MemorySegment file = MemorySegment.allocateNative(C_POINTER, scope);

        Kb(String path) throws Throwable {
            try (ResourceScope call = ResourceScope.newConfinedScope()) {
                MemorySegment err = MemorySegment.allocateNative(C_POINTER, call);
                check((int) lib.open.invokeExact(argument(path, call), file.address(), err.address()), err);
            } catch (Throwable failed) {
                scope.close();
                throw failed;
            }
        }

        @Override
        public void close() {
            try {
                int status = (int) lib.close.invokeExact(file.address(), MemoryAddress.NULL);
            } catch (Throwable failed) {
                throw new AssertionError(failed);
            }
            scope.close();
        }

        /** The k best hits, with the best lines of each. */
        List<Hit> search(String query, int k, int maxLines) throws Throwable {
            try (ResourceScope call = ResourceScope.newConfinedScope()) {
                MemorySegment options = MemorySegment.allocateNative(OPTIONS, call); // zeros
                MemoryAccess.setLong(options, OPTIONS.byteSize());
                MemoryAccess.setIntAtOffset(options, offset(OPTIONS, "k"), k);
                MemoryAccess.setIntAtOffset(options, offset(OPTIONS, "max_lines"), maxLines);
                MemorySegment hits = MemorySegment.allocateNative(C_POINTER, call);
                MemorySegment err = MemorySegment.allocateNative(C_POINTER, call);
                check((int) lib.search.invokeExact(MemoryAccess.getAddress(file), argument(query, call),
                        options.address(), hits.address(), err.address()), err);
                try {
                    return copy(MemoryAccess.getAddress(hits), call);
                } finally {
                    lib.hitsFree.invokeExact(hits.address());
                }
            }
        }

        private List<Hit> copy(MemoryAddress hits, ResourceScope call) throws Throwable {
            MemorySegment hit = MemorySegment.allocateNative(HIT, call);
            MemorySegment err = MemorySegment.allocateNative(C_POINTER, call);
            MemoryAccess.setLong(hit, HIT.byteSize());
            List<Hit> found = new ArrayList<>();
            for (long i = 0, len = (long) lib.hitsLen.invokeExact(hits); i < len; i++) {
                check((int) lib.hitsGet.invokeExact(hits, i, hit.address(), err.address()), err);
                found.add(new Hit(text(hit.asSlice(offset(HIT, "document"))),
                        MemoryAccess.getIntAtOffset(hit, offset(HIT, "first_line")),
                        MemoryAccess.getIntAtOffset(hit, offset(HIT, "last_line")),
                        MemoryAccess.getFloatAtOffset(hit, offset(HIT, "score")),
                        text(hit.asSlice(offset(HIT, "text")))));
            }
            return found;
        }

        /** Throws what a call put to `err`, and frees it. */
        private void check(int status, MemorySegment err) throws Throwable {
            if (status == 0) {
                return;
            }
            try (ResourceScope call = ResourceScope.newConfinedScope()) {
                SegmentAllocator returned = SegmentAllocator.ofScope(call);
                MemoryAddress error = MemoryAccess.getAddress(err);
                throw new KbException(text((MemorySegment) lib.errorMessage.invokeExact(returned, error)),
                        text((MemorySegment) lib.errorHint.invokeExact(returned, error)));
            } finally {
                lib.errorFree.invokeExact(err.address());
            }
        }

        private static long offset(GroupLayout struct, String field) {
            return struct.byteOffset(groupElement(field));
        }

        /** A copy of the text of a kb_str, whose bytes end with their result. */
        private static String text(MemorySegment str) {
            MemoryAddress ptr = MemoryAccess.getAddress(str);
            long len = MemoryAccess.getLongAtOffset(str, offset(STR, "len"));
            if (len == 0) {
                return ""; // there are no segments of no bytes
            }
            byte[] bytes = ptr.asSegment(len, ResourceScope.globalScope()).toByteArray();
            return new String(bytes, StandardCharsets.UTF_8);
        }

        /** A kb_str that lives as long as `call`. */
        private static MemorySegment argument(String text, ResourceScope call) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            MemorySegment data = MemorySegment.allocateNative(Math.max(bytes.length, 1), call);
            data.asSlice(0, bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            MemorySegment str = MemorySegment.allocateNative(STR, call);
            MemoryAccess.setAddress(str, data.address());
            MemoryAccess.setLongAtOffset(str, offset(STR, "len"), bytes.length);
            return str;
        }
    }

    public static void main(String[] arguments) throws Throwable {
        if (arguments.length != 3) {
            System.err.println("usage: Search LIBKB FILE.kb QUERY");
            System.exit(2);
        }
        System.load(arguments[0]);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        int status = 1;
        try (Kb kb = new Kb(arguments[1])) {
            for (Hit hit : kb.search(arguments[2], 5, 4)) {
                out.print(String.format(Locale.ROOT, "%s:%d-%d  %.2f\n%s\n",
                        hit.document(), hit.firstLine(), hit.lastLine(), hit.score(), hit.text()));
                status = 0;
            }
        } catch (KbException error) {
            System.err.println("error: " + error.getMessage());
            if (!error.hint.isEmpty()) {
                System.err.println("hint: " + error.hint);
            }
            status = 2;
        }
        System.exit(status);
    }
}
