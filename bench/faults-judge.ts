import { encodeEventTopics, encodeFunctionData, type Hex, pad } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { FUNDS_UNITS, type Prepared, type System, TOKEN_ABI, type Word } from './faults-systems.ts';
import { CHAIN_ID, type PayingChain, PRICE_UNITS, USDC } from './paying-chain.ts';
import { until } from './processes.ts';

/** A fault of the catalogue, with the way to cause it for either system. */
export interface Row {
  readonly id: string;
  readonly what: string;
  run(system: System, chain: PayingChain): Promise<Finding>;
}

export interface Finding {
  readonly isRight: boolean;
  readonly text: string;
}

export const SEND = ['eth_sendRawTransaction'];
export const MINED_WITHIN_MS = 15_000;

/**
 * A valid payment under a fault. Its reported status may be "unknown", but never "not paid". In the end it is paid,
 * once, and reported as paid.
 */
export async function mustBePaid(
  chain: PayingChain,
  payment: Prepared,
  act: (payment: Prepared) => Promise<Word>,
): Promise<Finding> {
  const first = await act(payment);
  const last = await payment.ask();
  // Delayed transactions arrive now.
  await chain.mine(1);
  const times = await paidTimes(chain, payment);
  const isRight = first.claim !== 'not paid' && last.claim === 'paid' && times === 1;
  const refusal = [first, last].find(({ claim }) => claim === 'not paid');
  const claims = `said ${first.claim}, then ${last.claim}${refusal === undefined ? '' : ` (${reasonOf(refusal)})`}`;
  return { isRight, text: `${claims}; paid ${times} times` };
}

/** The first word is the reason or the status. */
export function reasonOf({ text }: Word): string {
  return text.split(' ', 1)[0] ?? '';
}

/** The number of payments, derived from the payer's balance. */
export async function paidTimes(chain: PayingChain, { payer }: Prepared): Promise<number> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'balanceOf', args: [payer.address] });
  const balance = BigInt(await chain.request<Hex>('eth_call', { to: USDC, data }, 'latest'));
  return Number((FUNDS_UNITS - balance) / PRICE_UNITS);
}

export async function paidOnChain(chain: PayingChain, payment: Prepared): Promise<void> {
  await until('it is paid on chain', async () => (await paidTimes(chain, payment)) || undefined, {
    withinMs: MINED_WITHIN_MS,
    everyMs: 100,
  });
}

/** The number of blocks to remove for the payment to disappear. */
export async function depthOf(chain: PayingChain, { payer }: Prepared): Promise<number> {
  const [event] = encodeEventTopics({ abi: TOKEN_ABI, eventName: 'Transfer', args: { from: payer.address } });
  const topics = [event, pad(payer.address)];
  const logs = await chain.request<{ blockNumber: Hex }[]>('eth_getLogs', { address: USDC, fromBlock: '0x0', topics });
  const head = Number(await chain.request<Hex>('eth_blockNumber'));
  return head - Number(logs[0]?.blockNumber ?? head) + 1;
}

/** The bytes of the first transaction that the system tries to broadcast after so many calls. Waits for them. */
export function signedSince({ proxy }: System, since: number): Promise<Hex> {
  const find = async () =>
    proxy.calls.slice(since).find(({ method }) => SEND.includes(method))?.params?.[0] as Hex | undefined;
  return until('it was signed', find, { withinMs: MINED_WITHIN_MS, everyMs: 5 });
}

/** A transaction of a third party. */
export async function sendFrom(chain: PayingChain, key: Hex, call: { to: Hex; data: Hex }): Promise<void> {
  const account = privateKeyToAccount(key);
  const nonce = Number(await chain.request<Hex>('eth_getTransactionCount', account.address, 'pending'));
  const fees = { gas: 1_000_000n, maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const raw = await account.signTransaction({ type: 'eip1559', chainId: CHAIN_ID, nonce, ...fees, ...call });
  const hash = await chain.request<Hex>('eth_sendRawTransaction', raw);
  const receipt = () =>
    chain.request<object | null>('eth_getTransactionReceipt', hash).then((found) => found ?? undefined);
  await until('it is mined', receipt, { withinMs: MINED_WITHIN_MS, everyMs: 50 });
}
