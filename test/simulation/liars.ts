import type { ENDPOINT_WORDS } from '../../scripts/endpoint-words.ts';
import type { Incoming } from '../../src/chains/chain-reader.ts';
import type { ConnectedChain } from '../../src/chains/chains.ts';
import type { TestimonyLies } from '../../src/chains/memory/testimony.ts';
import { networkOf } from './networks.ts';
import type { Seeded } from './seeded.ts';
import type { PaidEvent, Stage } from './stage.ts';

type Lies = Partial<TestimonyLies>;
type Word = (typeof ENDPOINT_WORDS)[number]['value'];

/** Only one of the endpoints lies: a quorum of the two others is the promise. */
export const LIAR = 0;

const GWEI = 10n ** 9n;
const DAY_S = 86_400;

/** Every row of the table "What one endpoint may say", with a lie about it. The type compares the two. */
const LIES_ABOUT: Readonly<Record<Word, (stage: Stage, random: Seeded) => Promise<Lies> | Lies>> = {
  nonce: (_, random) => ({ addsToNonces: random.pick([300, 1_000_000_000, -1_000_000_000]) }),
  head: (_, random) => random.pick([{ headAhead: 3 }, { headAhead: 40 }, { hasOtherBlocks: true }]),
  'head at the start of a node': () => ({ headAhead: -3 }),
  // A network that is read already does not begin again.
  'first block of a network': () => ({ headAhead: 1_000 }),
  // A network that was used before remembers its block 0.
  'block 0 of a network': () => ({ hasOtherBlocks: true }),
  'block time': (_, random) => ({ addsToTimesS: random.pick([DAY_S, 600, -600]) }),
  'receipt and event': async (stage) => ({ invented: await inventedFor(stage, 'paid') }),
  'missing event': async ({ sql }) => {
    const rows = await sql<{ commitment: string }[]>`select commitment from items order by commitment`;
    return { hidden: rows.map(({ commitment }) => commitment) };
  },
  'event without a stored item': async (stage) => ({ invented: await inventedFor(stage, 'forgotten') }),
  'authorization state': () => ({ deniesUse: true }),
  'balance of a deposit address': () => ({ addsToHoldings: 10n ** 8n }),
  'balance of an account of ours': async ({ connected }) => ({
    addsToHoldings: 10n ** 20n,
    addsFrom: (await connected.chain.reader.head()).number,
  }),
  'coin of a relayer': () => ({ addsToHoldings: -(10n ** 30n) }),
  'transfers from and to an account of ours': async (stage) => ({ inventedTransfers: await inventedTransfer(stage) }),
  'coin of a payer in a block that is not final': async (stage) => ({ invented: await inventedFor(stage, 'coin') }),
  'cost of a transaction': () => ({ addsToCosts: 10n ** 20n }),
  tip: (_, random) => ({ tip: random.pick([900n * GWEI, 1n]) }),
  'base fee': (_, random) => ({ baseFee: random.pick([15_000n * GWEI, 1n]) }),
  // The limits of gas are our own but for one network. The endpoint gives no answer that is within the bound.
  'gas for data': () => ({ silentForMs: 60_000 }),
  'answer to a broadcast': () => ({ swallows: true }),
  'refusal of an item': () => ({ refuses: true }),
  // It refuses the signature of every payer.
  'code of an account whose signature is not that of its key': () => ({ refuses: true }),
  'code, balance and allowance of an account that asks for options': () => ({ deniesFunds: true }),
  // The chain in memory has no code. An endpoint that differs about code keeps everything as it was, as a silent one does.
  'code of our contracts and of Permit2, and what tokens say of themselves': () => ({ silentForMs: 60_000 }),
  // An endpoint of another chain is not asked.
  'chain id': () => ({ silentForMs: 60_000 }),
};

/** The lies as faults: all of them as one kind, and each for itself. */
export const LIARS = {
  label: 'endpoint lies',
  cause: (stage: Stage, random: Seeded) => lie(stage, random, random.pick(Object.keys(LIES_ABOUT) as Word[])),
};
export const SINGLE_LIARS = (Object.keys(LIES_ABOUT) as Word[]).map((word) => ({
  label: `endpoint lies: ${word}`,
  cause: (stage: Stage, random: Seeded) => lie(stage, random, word),
}));

async function lie(stage: Stage, random: Seeded, word: Word): Promise<void> {
  const { invented = [], ...lies } = await LIES_ABOUT[word](stage, random);
  stage.scheduler.note(`an endpoint lies about ${word}`);
  stage.control.testify(LIAR, { ...lies, invented: [...forgedOn(stage.connected, stage.forged), ...invented] });
}

/** A payment of a stored item that nobody has made, or a transfer of our account that the database does not have. */
async function inventedFor({ sql, connected }: Stage, kind: 'paid' | 'forgotten' | 'coin'): Promise<PaidEvent[]> {
  const isCoin = kind === 'coin';
  const rows = await sql<Record<'commitment' | 'seal' | 'collector' | 'payer' | 'asset' | 'recipient', string>[]>`
    select commitment, seal, collector, payer, asset, recipient from items
    where purpose = 'payment' and method like ${isCoin ? 'native' : 'eip3009-%'}
      and state = any(${isCoin ? ['offered'] : ['due', 'sent']})
      and network = ${connected.chain.network.chainId} order by commitment limit 1`;
  const { number, hash } = await connected.chain.reader.head();
  return rows.map(({ seal: subject, ...item }) => ({
    ...item,
    type: 'paid',
    ...(kind === 'forgotten' && { commitment: `0x${'f0'.repeat(32)}`, payer: connected.intermediateAccount }),
    block: { number, hash },
    transactionHash: `0x${'f1'.repeat(32)}`,
    logIndex: 0,
    subject,
    amount: 1_000_000n,
    fee: 0n,
  }));
}

/** A transfer to the intermediate account that nobody has made. */
async function inventedTransfer({ connected }: Stage): Promise<Incoming[]> {
  const { number, hash } = await connected.chain.reader.head();
  const asset = connected.payable().find((each) => each.includes('/erc20:'));
  if (asset === undefined) return [];
  const [from, to] = [`0x${'f3'.repeat(20)}`, connected.intermediateAccount];
  const place = { block: { number, hash }, transactionHash: `0x${'f2'.repeat(32)}`, logIndex: 0 };
  return [{ ...place, asset, from, to, amount: 7_000_000n }];
}

/** The payments of this network that the endpoint has invented before. */
export function forgedOn({ chain }: ConnectedChain, forged: readonly PaidEvent[]): readonly PaidEvent[] {
  return forged.filter(({ asset }) => networkOf(asset) === chain.network.chainId);
}
