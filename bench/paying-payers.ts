import { instantiateSecp256k1, type Secp256k1 } from '@bitauth/libauth';
import { getAddress, type Hex, hashTypedData, keccak256, stringToBytes, type TypedDataDefinition } from 'viem';

/** A payer: an account and its signing function. */
export interface Payer {
  readonly address: Hex;
  sign(typedData: TypedDataDefinition): Hex;
}

/**
 * The requested number of payers, the same ones for the same name. viem takes milliseconds for a signature in plain
 * JavaScript, which would make the preparation of a benchmark longer than the benchmark.
 */
export async function createPayers(name: string, count: number): Promise<Payer[]> {
  const curve = await instantiateSecp256k1();
  return Array.from({ length: count }, (_, number) => createPayer(curve, `${name} ${number}`));
}

function createPayer(curve: Secp256k1, name: string): Payer {
  const key = keccak256(stringToBytes(`till benchmark payer: ${name}`), 'bytes');
  const publicKey = expectBytes(curve.derivePublicKeyUncompressed(key));
  return {
    address: getAddress(`0x${keccak256(publicKey.subarray(1)).slice(-40)}`),
    sign(typedData) {
      const digest = Buffer.from(hashTypedData(typedData).slice(2), 'hex');
      const signed = curve.signMessageHashRecoverableCompact(key, digest);
      if (typeof signed === 'string') throw new Error(signed);
      return `0x${Buffer.from(signed.signature).toString('hex')}${(27 + signed.recoveryId).toString(16)}`;
    },
  };
}

/** The library reports errors by returning a string. */
function expectBytes(found: Uint8Array | string): Uint8Array {
  if (typeof found === 'string') throw new Error(found);
  return found;
}
