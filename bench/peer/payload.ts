import type { Hex } from 'viem';
import { TRANSFER_AUTHORIZATION } from '../../test/transfer-authorization.ts';
import type { Payer } from '../paying-payers.ts';

/** The payload of a payer for the facilitator. */
export interface PeerPayment {
  readonly payload: unknown;
  readonly requirements: unknown;
}

export interface PeerPaymentInput {
  readonly payer: Payer;
  readonly token: Hex;
  readonly domain: { readonly name: string; readonly version: string };
  readonly chainId: number;
  readonly payTo: Hex;
  readonly value: bigint;
  /** 32 bytes, different for every payment of a payer. */
  readonly nonce: Hex;
  readonly validBeforeS?: number;
}

const LIFETIME_S = 3600;

/** A signed EIP-3009 transfer in the envelope of x402, version 2. */
export function signPeerPayment(input: PeerPaymentInput): PeerPayment {
  const { payer, token, domain, chainId, payTo, value, nonce } = input;
  const validBefore = input.validBeforeS ?? Math.floor(Date.now() / 1000) + LIFETIME_S;
  const signature = payer.sign({
    domain: { ...domain, chainId, verifyingContract: token },
    types: TRANSFER_AUTHORIZATION,
    primaryType: 'TransferWithAuthorization',
    message: { from: payer.address, to: payTo, value, validAfter: 0n, validBefore: BigInt(validBefore), nonce },
  });
  const requirements = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    asset: token,
    amount: value.toString(),
    payTo,
    maxTimeoutSeconds: LIFETIME_S,
    extra: domain,
  };
  const authorization = {
    from: payer.address,
    to: payTo,
    value: value.toString(),
    validAfter: '0',
    validBefore: validBefore.toString(),
    nonce,
  };
  return {
    payload: { x402Version: 2, accepted: requirements, payload: { signature, authorization } },
    requirements,
  };
}
