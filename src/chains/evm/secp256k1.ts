import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';

/** The curve of Ethereum's keys, in WebAssembly. It is imported from its own file, because the whole library takes 0.3 s to load. */
export const secp256k1 = await instantiateSecp256k1();
