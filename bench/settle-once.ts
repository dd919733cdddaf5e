import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_KEYS } from '../src/sandbox/genesis.ts';
import { describeOthers } from './contest.ts';
import { compare, type Figure, type Measurement, round } from './figures.ts';
import { ASSET, CHAIN_ID, NETWORK, PRICE_UNITS, startPayingChain, USDC } from './paying-chain.ts';
import { type PayingGateway, startPayingGateway } from './paying-gateway.ts';
import { createPayers } from './paying-payers.ts';
import { confirm, type SignedPayment, signPayment, statusOf } from './paying-wallet.ts';
import { startFacilitator } from './peer/facilitator.ts';
import { signPeerPayment } from './peer/payload.ts';
import { settlePeerPayment } from './peer/settle.ts';
import { shareDuring } from './quiet.ts';

const BLOCK_MS = 2_000;
const HOLD_MS = 20_000;
/** Spreads the starts evenly over the time between two blocks, the same for both sides. */
const GOLDEN = 0.618;

/** The waiting time of a single payer, from the confirmation to "paid". */
export const settleOnceMeasurement: Measurement = {
  names: ['settle_1'],
  measure: async () => [await measureSettleOnce(9)],
};

export async function measureSettleOnce(rounds: number): Promise<Figure> {
  const chain = await startPayingChain({ blockMs: BLOCK_MS });
  const [shop] = await createPayers('shop', 1);
  const payTo = shop?.address ?? '0x';
  const gateway = await startPayingGateway({
    rpcUrls: { [NETWORK]: [chain.rpcUrl] },
    destinations: [{ asset: ASSET, destination: `${NETWORK}:${payTo}` }],
  });
  const relayerKey = SANDBOX_KEYS.secondRelayer;
  const facilitator = await startFacilitator({ rpcUrl: chain.rpcUrl, chainId: CHAIN_ID, relayerKey });
  try {
    // The first round is a warm-up.
    const payers = await createPayers('alone', rounds + 1);
    await chain.fund(
      USDC,
      payers.map(({ address }) => address),
      4n * PRICE_UNITS,
    );
    const ours: number[] = [];
    const theirs: number[] = [];
    const { others } = await shareDuring(async () => {
      for (const [index, payer] of payers.entries()) {
        const phaseMs = ((index * GOLDEN) % 1) * BLOCK_MS;
        const merchant = gateway.merchants[0] ?? '';
        const payment = await signPayment(gateway, { payer, merchant, asset: ASSET, price: '1000' });
        const domain = { name: 'USD Coin', version: '2' };
        const nonce = `0x${(index + 1).toString(16).padStart(64, '0')}` as const;
        const terms = { payer, token: USDC, domain, chainId: CHAIN_ID, payTo, value: PRICE_UNITS, nonce };
        const peerPayment = signPeerPayment(terms);
        // Each payment begins this long after the block that ended the previous one.
        await sleep(phaseMs);
        ours.push(await timed(() => payOurs(gateway, payment)));
        await sleep(phaseMs);
        theirs.push(
          await timed(async () => {
            const answer = await settlePeerPayment(facilitator, peerPayment);
            if (answer.success !== true) throw new Error(`The facilitator failed: ${JSON.stringify(answer)}`);
          }),
        );
      }
    });
    const { ratio, byRound } = compare(ours.slice(1), theirs.slice(1));
    return {
      name: 'settle_1',
      value: ratio,
      target: { atMost: 1.2 },
      unit: 'x',
      detail: {
        'gateway, ms from confirm to succeeded': ours.slice(1).map((ms) => round(ms)),
        'facilitator, ms from verify to settled': theirs.slice(1).map((ms) => round(ms)),
        'ratio by round': byRound,
        ...describeOthers([others]),
      },
    };
  } finally {
    await facilitator.stop();
    await gateway.stop();
    await chain.stop();
  }
}

async function payOurs(gateway: PayingGateway, payment: SignedPayment): Promise<void> {
  let { status, isFinal } = await confirm(gateway, payment, HOLD_MS);
  for (let asked = 0; !isFinal && asked < 10; asked += 1)
    ({ status, isFinal } = await statusOf(gateway, payment, HOLD_MS));
  if (status !== 'succeeded') throw new Error(`The payment ended ${status}.`);
}

async function timed(run: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}
