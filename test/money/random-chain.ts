import fc from 'fast-check';
import { A, A2, B, EMPTY_CHAIN, HELD, mine, N1, N2, type ToyChain } from './toy-chain.ts';
import { collected, DEADLINE_S, firstWorld, forged, pulled, sent, swept, type World } from './world.ts';

/** An act of payers and strangers on the chains. */
type Step = (world: World) => World;

const transfers = fc
  .record({
    where: fc.constantFrom([N1, A] as const, [N1, A] as const, [N1, B] as const, [N2, A2] as const),
    from: fc.constantFrom('payer', 'payer', 'listed', 'shop'),
    to: fc.constantFrom('deposit', 'deposit', 'deposit', HELD),
    amount: fc.oneof(fc.bigInt(1n, 6n), fc.bigInt(1n, 200n), fc.constantFrom(33n, 99n, 100n)),
  })
  .map(({ where: [network, asset], from, to, amount }): Step => {
    return (world) => sent(world, { does: 'transfer', network, asset, from, to, amount });
  });

/** Amounts below the dust limit of the terms. */
const dust = fc.tuple(fc.bigInt(1n, 4n), fc.constantFrom('payer', 'payer', 'listed')).map(([amount, from]): Step => {
  return (world) => sent(world, { does: 'transfer', network: N1, asset: A, from, to: 'deposit', amount });
});

const others = fc.constantFrom<Step[]>(
  (world) => swept(world, N1, A),
  (world) => swept(world, N1, A),
  (world) => swept(world, N1, B),
  (world) => swept(world, N2, A2),
  (world) => collected(world, 'I', 'key'),
  (world) => collected(world, 'I', 'permit2'),
  (world) => collected(world, 'J', 'key'),
  (world) => collected(world, 'K', 'key'),
  pulled,
  forged,
  (world) => ({ ...world, chain: { ...world.chain, timeS: Math.max(world.chain.timeS, DEADLINE_S + 1) } }),
);

/** Chains on which a payment is paid, too little and too much, twice, late and in the wrong token. */
export const chains = fc
  .array(fc.oneof({ weight: 3, arbitrary: transfers }, { weight: 2, arbitrary: others }), { maxLength: 14 })
  .map((steps): ToyChain => steps.reduce((world, step) => step(world), firstWorld()).chain);

/** Chains with much dust between sweeps and around the money that pays. */
export const dustyChains = fc
  .array(
    fc.oneof({ weight: 2, arbitrary: transfers }, { weight: 4, arbitrary: dust }, { weight: 2, arbitrary: others }),
    { maxLength: 20 },
  )
  .map((steps): ToyChain => steps.reduce((world, step) => step(world), firstWorld()).chain);

/** The same transactions in the same order, in other blocks with other indexes. */
export function minedElsewhere(chain: ToyChain): ToyChain {
  let again: ToyChain = { ...EMPTY_CHAIN, height: 5_000 };
  for (const { intent, timeS } of chain.blocks) {
    again = mine({ ...again, timeS: timeS - 1, height: again.height + 2 }, intent) ?? again;
  }
  return { ...again, timeS: chain.timeS };
}
