import { SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { describeOthers } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import { beginCounting } from './database-counts.ts';
import { type Figure, type Measurement, print, round } from './figures.ts';
import { settle } from './gateway.ts';
import { ASSET, CHAIN_ID, NETWORK, type PayingChain, PRICE_UNITS, startPayingChain, USDC } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers, type Payer } from './paying-payers.ts';
import { confirm, forEachAtOnce, type SignedPayment, signPayment } from './paying-wallet.ts';
import { type Facilitator, startFacilitator } from './peer/facilitator.ts';
import { type PeerPayment, signPeerPayment } from './peer/payload.ts';
import { settlePeerPayment } from './peer/settle.ts';
import { freePort, until } from './processes.ts';
import { beginProfile } from './processor-profile.ts';
import { shareDuring } from './quiet.ts';

const BLOCK_MS = 200;
const MERCHANTS = 50;
/** Enough for full transactions. */
const COUNTED = 1_200;
const PRICE_CENTS = '1000';
const PREPARE_AT_ONCE = 32;
/** Enough to saturate the gateway; the rest waits in the sockets. */
const CONFIRM_AT_ONCE = 64;
const ENDED_WITHIN_MS = 180_000;
const PEER_CONCURRENCIES = [8, 16, 32, 64] as const;

export interface SettleSizes {
  readonly ours: number;
  readonly theirs: number;
  /** Payments per trial of the peer's concurrency. */
  readonly trial: number;
}

/** Signed payments, submitted as fast as they are accepted, until the last one is paid on chain. */
export const settleMeasurement: Measurement = {
  names: ['settle'],
  measure: async (_, { isCounting }) => {
    if (!isCounting) return [await measureSettle({ ours: 5_000, theirs: 1_000, trial: 96 })];
    await countSettle(COUNTED);
    return [];
  },
};

/** Prints where the time of a settled payment goes. A profile slows the gateway, so the processor times are a run without one. */
async function countSettle(count: number): Promise<void> {
  const inspectPort = await freePort();
  const { chain, gateway } = await startShops(inspectPort);
  try {
    const turn = async (name: string) => {
      const payments = await prepareOurs(chain, gateway, { count, name });
      await settle(gateway);
      return payments;
    };
    await settleOurs(chain, gateway, await turn('warm-up'));
    const counted = await turn('counted');
    const endCounting = await beginCounting(gateway.sql);
    const { eachUs, succeeded } = await settleOurs(chain, gateway, counted);
    const { lines } = await endCounting(count);
    const profiled = await turn('profiled');
    const endProfile = await beginProfile(inspectPort, 'settle');
    await settleOurs(chain, gateway, profiled);
    print([
      `${succeeded} of ${count} payments succeeded; processor time of each in µs: gateway, PostgreSQL, chain: ${eachUs.join(', ')}`,
      ...lines,
      ...(await endProfile(count)),
    ]);
  } finally {
    await gateway.stop();
    await chain.stop();
  }
}

export async function measureSettle(sizes: SettleSizes): Promise<Figure> {
  const { chain, gateway, shops } = await startShops();
  const relayerKey = SANDBOX_KEYS.secondRelayer;
  const facilitator = await startFacilitator({ rpcUrl: chain.rpcUrl, chainId: CHAIN_ID, relayerKey });
  try {
    const payments = await prepareOurs(chain, gateway, { count: sizes.ours, name: 'ours' });
    const ours = await shareDuring(() => settleOurs(chain, gateway, payments));
    const trials = PEER_CONCURRENCIES.length * sizes.trial;
    const peers = await preparePeers(chain, shops, trials + sizes.theirs);
    const best = await findBestConcurrency(facilitator, peers.slice(0, trials), sizes.trial);
    const theirs = await shareDuring(() => settlePeers(facilitator, peers.slice(trials), best.concurrency));
    return {
      name: 'settle',
      value: round(ours.result.perSecond / theirs.result.perSecond, 2),
      target: { atLeast: 10 },
      unit: 'x',
      detail: {
        'gateway, payments/s from first confirm to last succeeded': round(ours.result.perSecond),
        'gateway, payments, of them succeeded': [payments.length, ours.result.succeeded],
        'gateway, success ratio': round(ours.result.succeeded / payments.length, 3).toFixed(3),
        'gateway, seconds: confirms taken, all succeeded': [
          round(ours.result.takenMs / 1000, 1),
          round(ours.result.tookMs / 1000, 1),
        ],
        'gateway, transactions sent': ours.result.sends,
        'gateway, processor time per payment in µs: its process, PostgreSQL, the chain': ours.result.eachUs,
        [`facilitator, payments/s at ${best.concurrency} at once`]: round(theirs.result.perSecond, 1),
        'facilitator, payments, of them succeeded': [sizes.theirs, theirs.result.succeeded],
        'facilitator, payments/s by concurrency': best.tried,
        ...describeOthers([ours.others, theirs.others]),
      },
    };
  } finally {
    await facilitator.stop();
    await gateway.stop();
    await chain.stop();
  }
}

/** A chain, and a gateway with merchants on it. */
export async function startShops(inspectPort?: number) {
  const chain = await startPayingChain({ blockMs: BLOCK_MS });
  const shops = await createPayers('shop', MERCHANTS);
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: [chain.rpcUrl] },
    inspectPort,
    destinations: shops.map(({ address }) => ({ asset: ASSET, destination: `${NETWORK}:${address}` })),
  });
  return { chain, gateway, shops };
}

/** Creates, funds and signs payments. The name makes their payers different from those of other calls. */
export async function prepareOurs(
  chain: PayingChain,
  gateway: PayingGateway,
  { count, name }: { readonly count: number; readonly name: string },
): Promise<SignedPayment[]> {
  const payers = await createPayers(name, count);
  await fund(chain, payers);
  return forEachAtOnce(payers, PREPARE_AT_ONCE, (payer, index) => {
    const merchant = gateway.merchants[index % gateway.merchants.length] ?? '';
    return signPayment(gateway, { payer, merchant, asset: ASSET, price: PRICE_CENTS });
  });
}

export async function settleOurs(chain: PayingChain, gateway: PayingGateway, payments: readonly SignedPayment[]) {
  const used = async () => ({ gateway: await readCpuUse(gateway.pid), chain: await readCpuUse(chain.pid) });
  const before = await used();
  const startMs = performance.now();
  const taken = forEachAtOnce(payments, CONFIRM_AT_ONCE, (payment) => confirm(gateway, payment)).then(
    () => performance.now() - startMs,
  );
  const ids = payments.map(({ id }) => id);
  const count = async (status: string) => {
    const [row] = await gateway.sql`
      select count(*) from payments where id = any(${ids}::text[]) and status = ${status}`;
    return Number(row?.count);
  };
  const allEnded = async () => {
    const [{ open } = { open: '' }] = await gateway.sql<{ open: string }[]>`
      select count(*) as open from payments where status in ('requires_action', 'processing')`;
    return open === '0' ? true : undefined;
  };
  const takenMs = await taken;
  await until('all payments have ended', allEnded, { withinMs: ENDED_WITHIN_MS, everyMs: 25 });
  const tookMs = performance.now() - startMs;
  const after = await used();
  const eachUs = [
    after.gateway.ownMs - before.gateway.ownMs,
    after.gateway.belowMs - before.gateway.belowMs,
    after.chain.ownMs - before.chain.ownMs,
  ].map((ms) => round((ms * 1000) / payments.length));
  const succeeded = await count('succeeded');
  const sends = Number((await gateway.sql`select count(*) from relay_sends where kind = 'batch'`)[0]?.count);
  return { takenMs, tookMs, succeeded, sends, eachUs, perSecond: (succeeded * 1000) / tookMs };
}

async function preparePeers(chain: PayingChain, shops: readonly Payer[], count: number): Promise<PeerPayment[]> {
  const payers = await createPayers('theirs', count);
  await fund(chain, payers);
  return payers.map((payer, index) =>
    signPeerPayment({
      payer,
      token: USDC,
      domain: { name: 'USD Coin', version: '2' },
      chainId: CHAIN_ID,
      payTo: shops[index % shops.length]?.address ?? payer.address,
      value: PRICE_UNITS,
      nonce: `0x${(index + 1).toString(16).padStart(64, '0')}`,
    }),
  );
}

async function findBestConcurrency(facilitator: Facilitator, payments: readonly PeerPayment[], each: number) {
  const rates: number[] = [];
  for (const [index, concurrency] of PEER_CONCURRENCIES.entries()) {
    const share = payments.slice(index * each, (index + 1) * each);
    rates.push((await settlePeers(facilitator, share, concurrency)).perSecond);
  }
  const best = rates.indexOf(Math.max(...rates));
  const tried = PEER_CONCURRENCIES.map((concurrency, index) => `${concurrency}: ${round(rates[index] ?? 0, 1)}`);
  return { concurrency: PEER_CONCURRENCIES[best] ?? PEER_CONCURRENCIES[0], tried: tried.join('; ') };
}

async function settlePeers(facilitator: Facilitator, payments: readonly PeerPayment[], concurrency: number) {
  const startMs = performance.now();
  const answers = await forEachAtOnce(payments, concurrency, (payment) => settlePeerPayment(facilitator, payment));
  const succeeded = answers.filter(({ success }) => success === true).length;
  return { succeeded, perSecond: (succeeded * 1000) / (performance.now() - startMs) };
}

function fund(chain: PayingChain, payers: readonly Payer[]): Promise<void> {
  // Twice the price: emptying an account refunds gas, which would flatter both sides.
  return chain.fund(
    USDC,
    payers.map(({ address }) => address),
    2n * PRICE_UNITS,
  );
}
