import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js';

/** The curve of Ethereum's keys, in WebAssembly. Imported from its own file: the whole library takes 0.3 s to load. */
export const secp256k1 = await instantiateSecp256k1();
