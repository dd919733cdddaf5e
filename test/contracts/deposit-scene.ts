import { type Address, encodeFunctionData, type Hex, keccak256, parseAbi, parseSignature } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { decodeBatchOutcome } from '../../src/chains/evm/collector.ts';
import {
  type AuthorizedSweep,
  authorizedGasLimit,
  DEPOSITS_ADDRESS,
  type DepositTerms,
  decodeSweptLog,
  depositAddress,
  depositCommitment,
  encodeAuthorizedSweep,
  encodeSweep,
  type Sweep,
  type SweptLog,
  sweepGasLimit,
} from '../../src/chains/evm/deposits.ts';
import { TRANSFER_AUTHORIZATION } from '../transfer-authorization.ts';
import { type CollectorChain, DEADLINE, FEE_ACCOUNT, TOKEN_ABI, USDC } from './collector-chain.ts';

export type Authorized = AuthorizedSweep['items'][number];

const VALID_AFTER = 5;
const OWED_ABI = parseAbi(['function owedFee(address token) view returns (uint256)']);

/** A sweep that was mined. */
export interface Swept {
  readonly status: 'success' | 'reverted';
  readonly gasUsed: number;
  readonly logs: readonly SweptLog[];
  /** The same logs as they are. */
  readonly rawLogs: readonly { readonly topics: readonly Hex[]; readonly data: Hex }[];
}

export type DepositScene = ReturnType<typeof createDepositScene>;

/** Helpers for tests of deposit addresses. Everybody who sweeps is a stranger. */
export function createDepositScene(chain: CollectorChain) {
  /** Terms for a new recipient; with the given changes. */
  const terms = (given: Partial<DepositTerms> = {}): DepositTerms => ({
    subject: chain.newSubject(),
    token: USDC,
    feeAccount: FEE_ACCOUNT,
    recipient: chain.someone().address,
    amount: 10_000_000n,
    fee: 100_000n,
    ...given,
  });

  /** Money arrives at the deposit address. */
  async function arrive(item: DepositTerms, amount = item.amount, token: Address = item.token): Promise<Address> {
    const address = depositAddress(item);
    await chain.callToken(token, 'mint', [address, amount]);
    return address;
  }

  const whole = (sweep: Partial<Sweep> & Pick<Sweep, 'items'>): Sweep => ({
    token: sweep.items[0]?.token ?? USDC,
    ...sweep,
  });

  async function sweep(input: Partial<Sweep> & Pick<Sweep, 'items'>, gas?: number): Promise<Swept> {
    const given = whole(input);
    return send(encodeSweep(given), gas ?? Math.min(2 ** 24, sweepGasLimit(given)));
  }

  /** A transaction of a stranger. */
  async function send(data: Hex, gas: number): Promise<Swept> {
    const stranger = chain.someone().address;
    await chain.rpc('hardhat_setBalance', [stranger, '0xde0b6b3a7640000']);
    const { status, gasUsed, logs } = await chain.send({ from: stranger, to: DEPOSITS_ADDRESS, data, gas });
    const own = logs.filter(({ address }) => address === DEPOSITS_ADDRESS.toLowerCase());
    const decoded = own.map((log) => decodeSweptLog(log)).filter((log) => log !== undefined);
    return { status, gasUsed, logs: decoded, rawLogs: own };
  }

  /** The reason of each item in a simulation; undefined for an item that would be swept. */
  async function simulate(input: Partial<Sweep> & Pick<Sweep, 'items'>): Promise<(Hex | undefined)[]> {
    const answer = await chain.call(DEPOSITS_ADDRESS, encodeSweep(whole(input)));
    return decodeBatchOutcome(answer, input.items.length).map((outcome) =>
      outcome.isCollected ? undefined : outcome.reason,
    );
  }

  /** The authorization of a payer with money, to the deposit address of the terms. */
  async function authorize(
    item: DepositTerms,
    given: { payer?: PrivateKeyAccount; nonce?: Hex; validAfter?: number; validBefore?: number } = {},
  ): Promise<Authorized> {
    const { nonce = keccak256(depositCommitment(item)), validAfter = VALID_AFTER, validBefore = DEADLINE } = given;
    const from = given.payer ?? (await chain.payer('eip3009-vrs', USDC));
    const signature = await from.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId: 31337, verifyingContract: USDC },
      types: TRANSFER_AUTHORIZATION,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: from.address,
        to: depositAddress(item),
        value: item.amount,
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
        nonce,
      },
    });
    return { ...item, payer: from.address, validAfter, validBefore, nonce, signature };
  }

  const sweepAuthorized = (
    items: readonly Authorized[],
    kind: AuthorizedSweep['kind'] = 'deposit-vrs',
    gas = authorizedGasLimit(kind, items.length),
  ): Promise<Swept> => send(encodeAuthorizedSweep({ kind, items }), gas);

  /** Somebody presents the authorization to the token, and does not sweep. */
  async function present(item: Authorized): Promise<Swept['status']> {
    const { payer, amount, validAfter, validBefore, nonce } = item;
    const { r, s, yParity } = parseSignature(item.signature);
    const times = [BigInt(validAfter), BigInt(validBefore)] as const;
    const args = [payer, depositAddress(item), amount, ...times, nonce, 27 + yParity, r, s] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transferWithAuthorization', args });
    return (await chain.send({ to: USDC, data })).status;
  }

  /** The fee in this token that the address owes to its fee account. */
  async function owedFee(item: DepositTerms, token: Address = item.token): Promise<bigint> {
    const data = encodeFunctionData({ abi: OWED_ABI, args: [token] });
    return BigInt(await chain.call(depositAddress(item), data));
  }

  return { terms, arrive, sweep, send, simulate, authorize, sweepAuthorized, present, owedFee };
}
