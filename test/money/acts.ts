import { A, A2, B, HELD, type Intent, mine, N1, N2, withoutLast } from './toy-chain.ts';
import {
  claimed,
  collected,
  DEADLINE_S,
  forged,
  nextRefundNumber,
  paidOut,
  pulled,
  REFUND,
  REFUND_FEE,
  readChain,
  rebuilt,
  returnable,
  sent,
  swept,
  sweptByUs,
  type World,
} from './world.ts';

/** Everything that can happen to the payment. An act that can do nothing returns the same world. */
export const ACTS: Readonly<Record<string, (world: World) => World>> = {
  part: (world) => transferred(world, N1, A, 'payer', 33n),
  all: (world) => transferred(world, N1, A, 'payer', 100n),
  tooMuch: (world) => transferred(world, N1, A, 'payer', 130n),
  dust: (world) => transferred(world, N1, A, 'payer', 2n),
  otherToken: (world) => transferred(world, N1, B, 'payer', 50n),
  otherNetwork: (world) => transferred(world, N2, A2, 'payer', 100n),
  listed: (world) => transferred(world, N1, A, 'listed', 20n),
  strangerSweeps: (world) => swept(swept(swept(world, N1, A), N1, B), N2, A2),
  weSweep: sweptByUs,
  walletPays: (world) => collected(world, world.hasDestination ? 'J' : 'I', 'key'),
  walletPaysOtherToken: (world) => collected(world, 'K', 'key'),
  sameByPermit2: (world) => collected(world, world.hasDestination ? 'J' : 'I', 'permit2'),
  x402: pulled,
  strangerNamesSubject: forged,
  cancel: (world) =>
    world.ending === undefined ? { ...world, ending: { is: 'unpaid', untilS: world.chain.timeS } } : world,
  expiry: (world) => (world.chain.timeS > DEADLINE_S ? world : atTime(world, DEADLINE_S + 1)),
  destination: (world) => (world.hasDestination ? world : { ...world, hasDestination: true }),
  payOut: paidOut,
  refund: refunded,
  return: (world) => {
    const lot = returnable(world);
    return lot === undefined ? world : { ...world, returns: [...world.returns, lot.id] };
  },
  floatAdd: (world) => claimed(toppedUp(world, A, 60n)),
  reorgOne: (world) => reorganised(world, 1, () => false),
  reorgMany: (world) => reorganised(world, 3, () => true),
  reorgLoss: (world) => reorganised(world, 3, (intent) => intent.does !== 'transfer' && intent.does !== 'pull'),
  rebuild: rebuilt,
};

/** The blocks of the other merchant's payment. They stay. */
const FIRST_BLOCKS = 2;

export function after(world: World, name: string): World {
  const act = ACTS[name];
  if (act === undefined) throw new Error(`There is no act ${name}.`);
  const next = act(world);
  return next === world ? world : readChain(next);
}

function transferred(world: World, network: string, asset: string, from: string, amount: bigint): World {
  return sent(world, { does: 'transfer', network, asset, from, to: 'deposit', amount });
}

export function toppedUp(world: World, asset: string, amount: bigint): World {
  const [network = ''] = asset.split('/');
  return sent(world, { does: 'transfer', network, asset, from: 'shop', to: HELD, amount });
}

export function atTime(world: World, timeS: number): World {
  return { ...world, chain: { ...world.chain, timeS } };
}

function refunded(world: World): World {
  const { ending } = world;
  if (ending?.is !== 'paid' || world.refunded + REFUND > ending.amount) return world;
  const refund = { number: nextRefundNumber(world), amount: REFUND, fee: REFUND_FEE };
  return { ...world, refunds: [...world.refunds, refund], refunded: world.refunded + REFUND };
}

/** The last blocks leave the chain. Those of their transactions that stay are mined again, in later blocks. */
function reorganised(world: World, depth: number, isKept: (intent: Intent) => boolean): World {
  const count = Math.min(depth, world.chain.blocks.length - FIRST_BLOCKS);
  if (count === 0) return world;
  const gone = world.chain.blocks.slice(-count).map(({ intent }) => intent);
  let chain = withoutLast(world.chain, count);
  let { hasLost } = world;
  for (const intent of gone) {
    // An item cannot be mined again after its deadline.
    const next = isKept(intent) ? mine(chain, intent) : undefined;
    hasLost ||= next === undefined;
    chain = next ?? chain;
  }
  return { ...world, chain, hasLost };
}
