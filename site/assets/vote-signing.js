// Ed25519 for a browser that signs nothing itself: it is an older one, or the page is not on https, as in a class that has
// a server on its own network.
import { sha512 } from "./buyer-hash.js";
import { getPublicKey, hashes, sign } from "./noble-ed25519.js";

hashes.sha512 = (bytes) => Uint8Array.from(sha512(bytes).match(/../g), (pair) => Number.parseInt(pair, 16));

export const keyOf = (seed) => ({ seed, public: getPublicKey(seed) });
export const signature = (key, message) => sign(message, key.seed);
