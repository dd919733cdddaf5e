import { bytesToHex } from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';
import type { Signer } from '../../src/chains/signer.ts';

/** A relayer's key by viem, so that the suite does not depend on the signer it may be used to test. */
export function signerFromKey(privateKey: `0x${string}`): Signer {
  return {
    address: privateKeyToAccount(privateKey).address,
    async sign(digest) {
      const { r, s, yParity } = await sign({ hash: bytesToHex(digest), privateKey });
      return { r: BigInt(r), s: BigInt(s), yParity: yParity === 1 ? 1 : 0 };
    },
  };
}
