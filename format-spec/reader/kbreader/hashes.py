"""XXH3 with 64 and 128 bits (seed 0, default secret) and BLAKE3 (unkeyed), after their published specifications."""

import struct

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MIX = 0x9FB21C651E98DF25


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def fold(left, right):
    product = left * right
    return (product & M64) ^ (product >> 64)


def swap(value, size):
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def avalanche(value):
    value ^= value >> 37
    value = value * 0x165667919E3779F9 & M64
    return value ^ value >> 32


def avalanche64(value):
    value ^= value >> 33
    value = value * P2 & M64
    value ^= value >> 29
    value = value * P3 & M64
    return value ^ value >> 32


def mix16(data, at, secret_at):
    return fold(u64(data, at) ^ u64(SECRET, secret_at), u64(data, at + 8) ^ u64(SECRET, secret_at + 8))


def long_lanes(data):
    """The eight accumulators of an input of more than 240 bytes."""
    lanes = [P32_3, P1, P2, P3, P4, P32_2, P5, P32_1]
    keys = [struct.unpack_from("<8Q", SECRET, 8 * stripe) for stripe in range(16)]
    last = struct.unpack_from("<8Q", SECRET, 128)
    blocks = (len(data) - 1) // 1024
    stripes = [(64 * at, keys[at % 16]) for at in range((len(data) - 1) // 64)]
    stripes.append((len(data) - 64, struct.unpack_from("<8Q", SECRET, 121)))
    for number, (at, key) in enumerate(stripes):
        words = struct.unpack_from("<8Q", data, at)
        for lane in range(8):
            keyed = words[lane] ^ key[lane]
            lanes[lane ^ 1] += words[lane]
            lanes[lane] += (keyed & M32) * (keyed >> 32)
        if number % 16 == 15 and number // 16 < blocks:
            for lane in range(8):
                value = lanes[lane] & M64
                lanes[lane] = (value ^ value >> 47 ^ last[lane]) * P32_1 & M64
    return [lane & M64 for lane in lanes]


def merge(lanes, secret_at, start):
    for pair in range(4):
        key = secret_at + 16 * pair
        start += fold(lanes[2 * pair] ^ u64(SECRET, key), lanes[2 * pair + 1] ^ u64(SECRET, key + 8))
    return avalanche(start & M64)


def xxh3_64(data):
    size = len(data)
    if size > 240:
        return merge(long_lanes(data), 11, size * P1)
    if size > 128:
        total = size * P1 + sum(mix16(data, 16 * at, 16 * at) for at in range(8))
        total = avalanche(total & M64) + sum(mix16(data, 16 * at, 16 * at - 125) for at in range(8, size // 16))
        return avalanche(total + mix16(data, size - 16, 119) & M64)
    if size > 16:
        total = size * P1
        for at in range((size - 1) // 32 + 1):
            total += mix16(data, 16 * at, 32 * at) + mix16(data, size - 16 - 16 * at, 32 * at + 16)
        return avalanche(total & M64)
    if size > 8:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, size - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        return avalanche(size + swap(low, 8) + high + fold(low, high) & M64)
    if size > 3:
        value = (u32(data, size - 4) + (u32(data, 0) << 32)) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        value ^= (value << 49 | value >> 15) & M64 ^ (value << 24 | value >> 40) & M64
        value = value * MIX & M64
        value = (value ^ (value >> 35) + size) * MIX & M64
        return value ^ value >> 28
    if size > 0:
        value = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche64(value ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    return avalanche64(u64(SECRET, 56) ^ u64(SECRET, 64))


def mix32(low, high, data, first, second, secret_at):
    low = (low + mix16(data, first, secret_at) & M64) ^ (u64(data, second) + u64(data, second + 8) & M64)
    high = (high + mix16(data, second, secret_at + 16) & M64) ^ (u64(data, first) + u64(data, first + 8) & M64)
    return low, high


def xxh3_128(data):
    size = len(data)
    if size > 240:
        lanes = long_lanes(data)
        low = merge(lanes, 11, size * P1)
        return low | merge(lanes, 192 - 64 - 11, ~(size * P2) & M64) << 64
    if size > 16:
        return middle_128(data, size)
    if size > 8:
        low, high = u64(data, 0), u64(data, size - 8)
        product = (low ^ high ^ u64(SECRET, 32) ^ u64(SECRET, 40)) * P1
        first, second = (product & M64) + (size - 1 << 54) & M64, product >> 64
        high ^= u64(SECRET, 48) ^ u64(SECRET, 56)
        second = second + high + (high & M32) * (P32_2 - 1) & M64
        product = (first ^ swap(second, 8)) * P2
        return avalanche(product & M64) | avalanche((product >> 64) + second * P2 & M64) << 64
    if size > 3:
        keyed = (u32(data, 0) + (u32(data, size - 4) << 32)) ^ u64(SECRET, 16) ^ u64(SECRET, 24)
        product = keyed * (P1 + (size << 2) & M64)
        low, high = product & M64, product >> 64
        high = high + (low << 1) & M64
        low ^= high >> 3
        low = (low ^ low >> 35) * MIX & M64
        return (low ^ low >> 28) | avalanche(high) << 64
    if size > 0:
        low = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        high = swap(low, 4)
        high = (high << 13 | high >> 19) & M32
        low, high = low ^ u32(SECRET, 0) ^ u32(SECRET, 4), high ^ u32(SECRET, 8) ^ u32(SECRET, 12)
        return avalanche64(low) | avalanche64(high) << 64
    low, high = u64(SECRET, 64) ^ u64(SECRET, 72), u64(SECRET, 80) ^ u64(SECRET, 88)
    return avalanche64(low) | avalanche64(high) << 64


def middle_128(data, size):
    low, high = size * P1 & M64, 0
    if size > 128:
        for at in range(0, 128, 32):
            low, high = mix32(low, high, data, at, at + 16, at)
        low, high = avalanche(low), avalanche(high)
        for at in range(128, size // 32 * 32, 32):
            low, high = mix32(low, high, data, at, at + 16, at - 125)
        low, high = mix32(low, high, data, size - 16, size - 32, 103)
    else:
        for at in reversed(range((size - 1) // 32 + 1)):
            low, high = mix32(low, high, data, 16 * at, size - 16 - 16 * at, 32 * at)
    second = low * P1 + high * P4 + size * P2
    return avalanche(low + high & M64) | (-avalanche(second & M64) & M64) << 64


IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MIXED = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)) + (
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))  # fmt: skip


def schedule():
    """For each of the 56 mixing steps of a compression: four places of the state and two words of the block."""
    order, steps = list(range(16)), []
    for _ in range(7):
        steps += [(*places, order[2 * at], order[2 * at + 1]) for at, places in enumerate(MIXED)]
        order = [order[at] for at in ORDER]
    return steps


STEPS = schedule()


def compress(chain, block, counter, size, flags):
    """The first eight words of a BLAKE3 compression."""
    words = struct.unpack("<16I", block.ljust(64, b"\0"))
    v = [*chain, *IV[:4], counter & M32, counter >> 32, size, flags]
    for a, b, c, d, first, second in STEPS:
        va = v[a] + v[b] + words[first] & M32
        vd = v[d] ^ va
        vd = vd >> 16 | vd << 16 & M32
        vc = v[c] + vd & M32
        vb = v[b] ^ vc
        vb = vb >> 12 | vb << 20 & M32
        v[a] = va = va + vb + words[second] & M32
        vd ^= va
        v[d] = vd = vd >> 8 | vd << 24 & M32
        v[c] = vc = vc + vd & M32
        vb ^= vc
        v[b] = vb >> 7 | vb << 25 & M32
    return [v[at] ^ v[at + 8] for at in range(8)]


def blake3_node(data, counter, flags):
    """Chaining value of up to 2^n chunks of 1,024 bytes, beginning with the chunk number `counter`."""
    if len(data) > 1024:
        left = 1 << (len(data) - 1).bit_length() - 1
        words = blake3_node(data[:left], counter, 0) + blake3_node(data[left:], counter + left // 1024, 0)
        return compress(IV, struct.pack("<16I", *words), 0, 64, PARENT | flags)
    chain, last = IV, max(len(data) - 1, 0) // 64
    for number in range(last + 1):
        block = data[64 * number : 64 * number + 64]
        own = (CHUNK_START if number == 0 else 0) | (CHUNK_END | flags if number == last else 0)
        chain = compress(chain, block, counter, len(block), own)
    return chain


def blake3(data):
    return struct.pack("<8I", *blake3_node(data, 0, ROOT))
