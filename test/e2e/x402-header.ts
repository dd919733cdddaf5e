import type { Hex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount } from 'viem/accounts';
import { headerText, type Requirement } from '../../src/domain/x402.ts';
import { TRANSFER_AUTHORIZATION } from '../transfer-authorization.ts';

type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>;

export interface X402Changes {
  /** Terms that are signed in place of the right ones. */
  readonly terms?: Partial<Authorization>;
  /** Members of the header that are changed after the signature. */
  readonly bent?: object;
}

/** The header of a payment by x402, as clients make it. */
export async function x402Header(
  agent: PrivateKeyAccount,
  accepted: Requirement,
  { nowMs, terms = {}, bent = {} }: X402Changes & { readonly nowMs: number },
): Promise<string> {
  const authorization: Authorization = {
    from: agent.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: String(Math.floor(nowMs / 1000) + accepted.maxTimeoutSeconds),
    nonce: generatePrivateKey(),
    ...terms,
  };
  const signature = await agent.signTypedData({
    domain: {
      name: accepted.extra.name,
      version: accepted.extra.version,
      chainId: Number(accepted.network.split(':')[1]),
      verifyingContract: accepted.asset as Hex,
    },
    types: TRANSFER_AUTHORIZATION,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: authorization.from as Hex,
      to: authorization.to as Hex,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  });
  return headerText({ x402Version: 2, accepted, payload: { authorization, signature }, ...bent });
}
