import type { Address, Hex } from 'viem';
import { decodeBatchOutcome } from '../../src/chains/evm/collector.ts';
import {
  DEPOSITS_ADDRESS,
  type DepositTerms,
  decodeSweptLog,
  depositAddress,
  encodeSweep,
  type Sweep,
  type SweptLog,
  sweepGasLimit,
} from '../../src/chains/evm/deposits.ts';
import { type CollectorChain, FEE_ACCOUNT, USDC } from './collector-chain.ts';

/** A sweep that was mined. */
export interface Swept {
  readonly status: 'success' | 'reverted';
  readonly gasUsed: number;
  readonly logs: readonly SweptLog[];
}

export type DepositScene = ReturnType<typeof createDepositScene>;

/** Helpers for tests of deposit addresses. Everybody who sweeps is a stranger. */
export function createDepositScene(chain: CollectorChain) {
  /** Terms for a new recipient; with the given changes. */
  const terms = (given: Partial<DepositTerms> = {}): DepositTerms => ({
    paymentId: chain.newPaymentId(),
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
    await chain.tell(token, 'mint', [address, amount]);
    return address;
  }

  const whole = (sweep: Partial<Sweep> & Pick<Sweep, 'items'>): Sweep => ({
    token: sweep.items[0]?.token ?? USDC,
    ...sweep,
  });

  async function sweep(input: Partial<Sweep> & Pick<Sweep, 'items'>, gas?: number): Promise<Swept> {
    const given = whole(input);
    const stranger = chain.someone().address;
    await chain.rpc('hardhat_setBalance', [stranger, '0xde0b6b3a7640000']);
    const { status, gasUsed, logs } = await chain.send({
      from: stranger,
      to: DEPOSITS_ADDRESS,
      data: encodeSweep(given),
      gas: gas ?? Math.min(2 ** 24, sweepGasLimit(given.items.length, given.allowance)),
    });
    const own = logs.filter(({ address }) => address === DEPOSITS_ADDRESS.toLowerCase());
    return { status, gasUsed, logs: own.map((log) => decodeSweptLog(log)).filter((log) => log !== undefined) };
  }

  /** The reason of each item in a simulation; undefined for an item that would be swept. */
  async function simulate(input: Partial<Sweep> & Pick<Sweep, 'items'>): Promise<(Hex | undefined)[]> {
    const answer = await chain.call(DEPOSITS_ADDRESS, encodeSweep(whole(input)));
    return decodeBatchOutcome(answer, input.items.length).map((outcome) =>
      outcome.isCollected ? undefined : outcome.reason,
    );
  }

  return { terms, arrive, sweep, simulate };
}
