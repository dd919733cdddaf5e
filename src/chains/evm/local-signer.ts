import { checksumAddress } from '../../domain/addresses/eip155.ts';
import type { Signer } from '../signer.ts';
import { addressOf } from './key-signature.ts';
import { secp256k1 } from './secp256k1.ts';

/** A signer with a key in this process. It has no policy, so it does not need the content of the digest. */
interface LocalSigner extends Signer {
  sign(digest: Uint8Array): ReturnType<Signer['sign']>;
}

/**
 * Signs with a key in this process. The key exists only in the scope of this function. The signer has no field for it, so printing,
 * comparing or serialising the signer cannot reveal it.
 */
export function createLocalSigner(privateKey: string): LocalSigner {
  const key = readKey(privateKey);
  return {
    address: checksumAddress(addressOf(uncompressed(key))),
    sign: async (digest) => {
      const signed = secp256k1.signMessageHashRecoverableCompact(key, digest);
      if (typeof signed === 'string') throw new RangeError('A digest has 32 bytes.');
      const hex = Buffer.from(signed.signature).toString('hex');
      return {
        r: BigInt(`0x${hex.slice(0, 64)}`),
        s: BigInt(`0x${hex.slice(64)}`),
        // A recovery id of 2 or 3 occurs once in 2^127 signatures.
        yParity: signed.recoveryId === 1 ? 1 : 0,
      };
    },
  };
}

/** Reads a private key. Error messages do not contain the input, which may be a key with one character too many. */
function readKey(text: string): Uint8Array {
  if (!/^(0x)?[0-9a-f]{64}$/i.test(text)) throw new TypeError('A private key is 64 hexadecimal digits.');
  const key = Buffer.from(text.replace(/^0x/i, ''), 'hex');
  if (!secp256k1.validatePrivateKey(key)) throw new RangeError('The private key is not one of this curve.');
  return key;
}

function uncompressed(key: Uint8Array): Uint8Array {
  const publicKey = secp256k1.derivePublicKeyUncompressed(key);
  if (typeof publicKey === 'string') throw new RangeError('The private key is not one of this curve.');
  return publicKey;
}
